// Opens every page in a real browser and says, as lines of JSON, what is wrong with it.
//
// node pages.cjs BASE_URL CHROMIUM PATHS SHOTS [SESSION]: PATHS is a JSON object of names and paths, of which
// those under "own" are opened with the cookie of SESSION, SHOTS a
// directory for screenshots or empty. It prints {"problem": …} for each fault, {"seen": …} after each page,
// {"listening": true} when the home page waits for news, and {"checked": …} at the end.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const { chromium } = require('playwright-core');

const [base, executablePath, pathsJson, shots, session] = process.argv.slice(2);
const { own = {}, ...others } = JSON.parse(pathsJson);
const paths = { ...others, ...own };
const axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const patience = 30_000;

const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const counts = { pages: 0, judged: 0, cards: 0 };
/// Pages that nobody shares.
const unshared = ['missing', 'sign-in', 'sign-up', ...Object.keys(own)];

/// A page that reports what it should not do.
async function open(browser, where, options) {
  // Without motion: what fades in has not its full contrast yet.
  const context = await browser.newContext({ ...options, reducedMotion: 'reduce' });
  if (own[where.name]) await context.addCookies([{ name: 'arena_session', value: session, url: base }]);
  const page = await context.newPage();
  page.setDefaultTimeout(patience);
  const expected = where.name === 'missing' ? 1 : 0;
  let failed = 0;
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return;
    // The browser itself logs that a page answered 404; that page is meant to.
    failed += message.text().includes('404') ? 1 : 0;
    if (message.text().includes('404') && failed <= expected) return;
    say({ problem: 'console', ...where, text: message.text() });
  });
  page.on('pageerror', (error) => say({ problem: 'script', ...where, text: String(error) }));
  page.on('dialog', (dialog) => {
    say({ problem: 'dialog', ...where, text: dialog.message() });
    dialog.dismiss();
  });
  await page.route('**', (route) => {
    const url = route.request().url();
    if (url.startsWith(`${base}/`)) return route.continue();
    say({ problem: 'outside request', ...where, text: url });
    return route.abort();
  });
  await page.goto(base + paths[where.name], { waitUntil: 'load' });
  counts.pages += 1;
  return { context, page };
}

async function fits(page, where) {
  const wide = await page.evaluate(() => {
    const room = document.documentElement.clientWidth;
    // What its surroundings cut off or scroll needs no room.
    const contained = (element) => {
      for (let up = element.parentElement; up && up !== document.body; up = up.parentElement) {
        if (getComputedStyle(up).overflowX !== 'visible') return true;
      }
      return false;
    };
    const out = [...document.querySelectorAll('main *, header *, footer *')]
      .filter((element) => element.getBoundingClientRect().right > room + 1)
      .filter((element) => !element.closest('.skip, svg') && !contained(element))
      .map((element) => element.outerHTML.slice(0, 120));
    return { room, needed: document.documentElement.scrollWidth, out };
  });
  if (wide.needed > wide.room || wide.out.length) say({ problem: 'overflow', ...where, text: JSON.stringify(wide) });
}

/// What is shown where a link to the page is shared.
async function shared(context, page, where) {
  const meta = (name) => page.locator(`meta[property="${name}"]`).getAttribute('content');
  const [url, image, alt, width, height] =
    await Promise.all(['og:url', 'og:image', 'og:image:alt', 'og:image:width', 'og:image:height'].map(meta));
  if (url !== base + paths[where.name] || !alt) say({ problem: 'preview', ...where, text: `${url} ${alt}` });
  const answer = await context.request.get(image);
  const png = await answer.body();
  const size = png.subarray(1, 4).toString() === 'PNG' ? [png.readUInt32BE(16), png.readUInt32BE(20)].join('x') : 'none';
  const type = answer.headers()['content-type'];
  if (answer.status() !== 200 || type !== 'image/png' || size !== '1200x630' || size !== `${width}x${height}`) {
    say({ problem: 'share card', ...where, text: `${image} ${answer.status()} ${type} ${size} not ${width}x${height}` });
  }
  counts.cards += 1;
}

async function judge(page, where) {
  await page.evaluate(axe);
  const result = await page.evaluate((tags) => axe.run(document, { runOnly: tags, resultTypes: ['violations'] }), rules);
  counts.judged += 1;
  for (const violation of result.violations) {
    for (const node of violation.nodes) {
      say({ problem: `axe ${violation.id}`, ...where, text: `${node.html.slice(0, 200)} ${node.failureSummary}` });
    }
  }
}

async function visit(browser, name, options, judged) {
  const { viewport, colorScheme, javaScriptEnabled } = options;
  const where = { name, width: viewport.width, colour: colorScheme, script: javaScriptEnabled };
  const { context, page } = await open(browser, where, options);
  const inert = await page.evaluate(() => [globalThis.pwned, document.querySelectorAll('h1').length]).catch((error) => {
    if (javaScriptEnabled) throw error;
    return [undefined, 1];
  });
  if (inert[0] !== undefined) say({ problem: 'text of a user ran', ...where });
  if (inert[1] !== 1) say({ problem: 'headings', ...where, text: `${inert[1]} h1` });
  await fits(page, where);
  if (judged) await judge(page, where);
  if (judged && viewport.width === 320 && !unshared.includes(name)) await shared(context, page, where);
  if (shots) {
    const file = `${name}-${viewport.width}-${colorScheme}${javaScriptEnabled ? '' : '-noscript'}.png`;
    await page.screenshot({ path: path.join(shots, file), fullPage: true });
  }
  await context.close();
  say({ seen: where });
}

/// Without a script: the theme's button, and a way to connect that opens.
async function withoutScript(browser) {
  const where = { name: 'home', script: false };
  const options = { viewport: { width: 1280, height: 900 }, colorScheme: 'light', javaScriptEnabled: false };
  const { context, page } = await open(browser, where, options);
  const tab = page.locator('.tabs details').nth(2);
  await tab.locator('summary').click();
  await tab.locator('pre').waitFor({ state: 'visible' });
  if (await page.locator('button.copy').count()) say({ problem: 'a script ran', ...where });
  const paper = () => page.locator('body').evaluate((body) => getComputedStyle(body).backgroundColor);
  const light = await paper();
  await page.goto(base + paths.agents, { waitUntil: 'load' });
  await page.getByRole('button', { name: 'Dark' }).click();
  await page.getByRole('button', { name: 'Light' }).waitFor();
  if (new URL(page.url()).pathname !== paths.agents) say({ problem: 'the theme leads away', ...where, text: page.url() });
  if ((await paper()) === light) say({ problem: 'the theme changes nothing', ...where });
  await context.close();
}

/// With a script: a line on the page of a new key tells when a program has called with it.
async function firstCall(browser) {
  const where = { name: 'keys', script: true };
  const options = { viewport: { width: 1280, height: 900 }, colorScheme: 'light', javaScriptEnabled: true };
  const { context, page } = await open(browser, where, options);
  await page.getByLabel('What is it for').fill('my agent');
  await page.getByRole('button', { name: 'Make a key' }).click();
  await page.locator('.waiting').waitFor();
  await judge(page, { ...where, after: 'a key' });
  const key = await page.locator('.secret code').textContent();
  const answer = await fetch(`${base}/duels/v1/whoami`, { method: 'POST', headers: { authorization: `Bearer ${key}` } });
  if (answer.status !== 200) say({ problem: 'the key', ...where, text: await answer.text() });
  await page.locator('.connected').waitFor();
  if (await page.locator('.waiting').count()) say({ problem: 'the line waits on', ...where });
  await judge(page, { ...where, after: 'a call' });
  await context.close();
}

/// With a script: a duel that settles while somebody watches becomes the first row.
async function live(browser) {
  const where = { name: 'home', script: true };
  const options = { viewport: { width: 1280, height: 900 }, colorScheme: 'light', javaScriptEnabled: true };
  const { context, page } = await open(browser, where, options);
  const first = () => page.locator('#feed > li').first().getAttribute('id');
  const count = () => page.locator('#duels-today').textContent();
  const [row, today] = [await first(), await count()];
  // The page of that duel is open beside it, and shows the end by itself.
  const beside = { name: 'open', script: true };
  const duel = await open(browser, beside, options);
  await duel.page.locator('[data-follow]').waitFor();
  say({ listening: true });
  await page.waitForFunction((row) => document.querySelector('#feed > li').id !== row, row);
  const rows = await page.locator('#feed > li').evaluateAll((rows) => rows.map((row) => row.id));
  if (new Set(rows).size !== rows.length) say({ problem: 'a row twice', ...where, text: rows.join() });
  if ((await count()) !== String(Number(today) + 1)) say({ problem: 'the count', ...where, text: `${today} ${await count()}` });
  const going = await page.locator(`[id="${rows[0]}"]`).count();
  if (going !== 1) say({ problem: 'a settled duel goes on', ...where });
  await judge(page, { ...where, after: 'news' });
  await context.close();
  await duel.page.locator('.verdict').waitFor();
  if (await duel.page.locator('[data-follow]').count()) say({ problem: 'a settled duel is followed', ...beside });
  await judge(duel.page, { ...beside, after: 'its end' });
  await duel.context.close();
}

(async () => {
  const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage'];
  const browser = await chromium.launch({ executablePath, args });
  try {
    for (const name of Object.keys(paths)) {
      for (const width of [1280, 390, 320]) {
        for (const colorScheme of ['light', 'dark']) {
          const options = { viewport: { width, height: 900 }, colorScheme, javaScriptEnabled: true };
          // Colours are the same at every width, so the narrow pages are judged in one of them.
          await visit(browser, name, options, width !== 390 && (width === 1280 || colorScheme === 'light'));
        }
      }
      await visit(browser, name, { viewport: { width: 390, height: 900 }, colorScheme: 'light', javaScriptEnabled: false }, false);
    }
    if (paths.agents) await withoutScript(browser);
    if (paths.home) await live(browser);
    if (paths.keys) await firstCall(browser);
  } finally {
    await browser.close();
  }
  say({ checked: counts });
})().catch((error) => {
  say({ problem: 'the check itself', text: String(error && error.stack) });
  process.exitCode = 1;
});
