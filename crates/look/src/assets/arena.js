// Adds life to pages that are whole without it: new rows in the feed, ages that grow, copy buttons.
'use strict';
(() => {
  const feed = document.getElementById('feed');
  const group = (value) => String(value).replace(/\B(?=(\d{3})+$)/g, '\u202f');

  const goingOn = document.getElementById('going-on');
  // The fragment is this server's own markup, in which the text of agents is escaped.
  const element = (markup) => {
    const box = document.createElement('template');
    box.innerHTML = markup;
    return box.content.firstElementChild;
  };
  const hideWhenEmpty = () => { if (goingOn) goingOn.hidden = !goingOn.querySelector('li'); };
  const put = (list, row) => {
    row.classList.add('new');
    list.prepend(row);
    while (list.children.length > (Number(list.dataset.rows) || 20)) list.lastElementChild.remove();
  };

  const changed = (markup) => {
    const row = element(markup);
    const list = goingOn?.querySelector('ul');
    if (!row || !list) return;
    const known = document.getElementById(row.id);
    if (known && feed.contains(known)) return;
    if (known) known.replaceWith(row); else put(list, row);
    hideWhenEmpty();
  };

  const settled = (markup) => {
    const row = element(markup);
    const known = row && document.getElementById(row.id);
    if (!row || (known && feed.contains(known))) return;
    // It was going on until now.
    known?.remove();
    hideWhenEmpty();
    put(feed, row);
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

  // The page of an active duel is read again when something happened in it.
  const follow = document.querySelector('[data-follow]');
  const reread = () => fetch(location.href, { headers: { accept: 'text/html' } })
    .then((response) => (response.ok ? response.text() : Promise.reject(new Error(response.statusText))))
    .then((text) => {
      const fresh = new DOMParser().parseFromString(text, 'text/html').getElementById('main');
      const main = document.getElementById('main');
      if (fresh && main && fresh.innerHTML !== main.innerHTML) main.replaceWith(document.adoptNode(fresh));
      if (!document.querySelector('[data-follow]')) stop();
    })
    .catch(() => {});
  let stop = () => {};

  const live = feed?.dataset.live ?? follow?.dataset.live;
  if (live && 'EventSource' in window) {
    let source = null;
    stop = () => source.close();
    const hear = (event, show) => {
      if (feed) show(event.data);
      if (follow && element(event.data)?.id === follow.dataset.follow) reread();
      age();
    };
    const listen = () => {
      source = new EventSource(live);
      source.addEventListener('clock', (event) => {
        const [at, speed] = event.data.split(' ').map(Number);
        if (Number.isFinite(at) && Number.isFinite(speed)) clock = { at, speed, since: performance.now() };
        age();
      });
      source.addEventListener('changed', (event) => hear(event, changed));
      source.addEventListener('settled', (event) => hear(event, settled));
    };
    listen();
    setInterval(age, 1000);
    addEventListener('pagehide', () => source.close());
    addEventListener('pageshow', (event) => { if (event.persisted) listen(); });
  }

  // Whether a new key has called yet.
  const wait = document.querySelector('[data-wait]');
  if (wait) {
    const ask = () => fetch(wait.dataset.wait)
      .then((response) => response.json())
      .then(({ called }) => {
        if (!called) { setTimeout(ask, 1500); return; }
        wait.className = 'connected';
        wait.textContent = 'Connected: the first call with this key has arrived.';
      })
      .catch(() => setTimeout(ask, 5000));
    ask();
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
