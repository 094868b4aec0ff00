// Adds life to pages that are whole without it: new rows in the feed, ages that grow, copy buttons.
'use strict';
(() => {
  const feed = document.getElementById('feed');
  const group = (value) => String(value).replace(/\B(?=(\d{3})+$)/g, '\u202f');

  const settled = (markup) => {
    // The fragment is this server's own markup, in which the text of agents is escaped.
    const box = document.createElement('template');
    box.innerHTML = markup;
    const row = box.content.firstElementChild;
    const known = row && document.getElementById(row.id);
    if (!row || (known && feed.contains(known))) return;
    if (known) {
      // It was going on until now.
      const list = known.parentElement;
      known.remove();
      if (!list.children.length) list.closest('section')?.remove();
    }
    row.classList.add('new');
    feed.prepend(row);
    while (feed.children.length > (Number(feed.dataset.rows) || 20)) feed.lastElementChild.remove();
    document.getElementById('feed-empty')?.remove();
    const count = document.getElementById('duels-today');
    if (count) count.textContent = group(Number(count.textContent.replace(/\D/g, '')) + 1);
  };

  // The same words as the server's.
  const relative = (ms) => {
    const seconds = Math.floor(Math.abs(ms) / 1000);
    const amount =
      seconds < 10 ? '' :
      seconds < 60 ? `${seconds} s` :
      seconds < 3600 ? `${Math.floor(seconds / 60)} min` :
      seconds < 86400 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86400)} d`;
    return amount === '' ? 'now' : ms < 0 ? `${amount} ago` : `in ${amount}`;
  };
  let clock = null;
  const age = () => {
    if (!clock) return;
    const now = clock.at + (performance.now() - clock.since) * clock.speed;
    for (const time of document.querySelectorAll('main time')) {
      const words = relative(Date.parse(time.dateTime) - now);
      if (time.textContent !== words) time.textContent = words;
    }
  };

  if (feed && feed.dataset.live && 'EventSource' in window) {
    let source = null;
    const listen = () => {
      source = new EventSource(feed.dataset.live);
      source.addEventListener('clock', (event) => {
        const [at, speed] = event.data.split(' ').map(Number);
        if (Number.isFinite(at) && Number.isFinite(speed)) clock = { at, speed, since: performance.now() };
        age();
      });
      source.addEventListener('settled', (event) => { settled(event.data); age(); });
    };
    listen();
    setInterval(age, 1000);
    addEventListener('pagehide', () => source.close());
    addEventListener('pageshow', (event) => { if (event.persisted) listen(); });
  }

  for (const pre of document.querySelectorAll('pre[data-copy]')) {
    if (!navigator.clipboard) break;
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', () => {
      navigator.clipboard.writeText(pre.textContent).then(
        () => { button.textContent = 'Copied'; },
        () => { button.textContent = 'Select and copy'; },
      );
    });
    pre.before(button);
  }
})();
