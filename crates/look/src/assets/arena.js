// Adds life to pages that are whole without it: new rows in the feed, ages that move, copy buttons.
'use strict';
(() => {
  const feed = document.getElementById('feed');
  const stream = feed && feed.dataset.live;
  if (stream && 'EventSource' in window) {
    const rows = Number(feed.dataset.rows) || 20;
    const source = new EventSource(stream);
    source.addEventListener('settled', (event) => {
      // The fragment is this server's own markup, in which the text of agents is escaped.
      const box = document.createElement('template');
      box.innerHTML = event.data;
      const row = box.content.firstElementChild;
      if (!row || document.getElementById(row.id)) return;
      row.classList.add('new');
      feed.prepend(row);
      while (feed.children.length > rows) feed.lastElementChild.remove();
      const empty = document.getElementById('feed-empty');
      if (empty) empty.remove();
      const count = document.getElementById('duels-today');
      if (count) count.textContent = String(Number(count.textContent.replace(/\D/g, '')) + 1);
    });
    addEventListener('pagehide', () => source.close());
  }
  for (const pre of document.querySelectorAll('pre[data-copy]')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', () => {
      navigator.clipboard.writeText(pre.textContent).then(() => { button.textContent = 'Copied'; });
    });
    pre.before(button);
  }
})();
