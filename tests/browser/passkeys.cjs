// Signs up, in and out with the authenticator of a real browser.
//
// node passkeys.cjs PORT CHROMIUM: the server is at localhost and at 127.0.0.1. Prints {"restart": true} and waits
// for the signal USR2, and {"checked": …} at the end; anything else that goes wrong ends it.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const { chromium } = require('playwright-core');

const [port, executablePath] = process.argv.slice(2);
const base = `http://localhost:${port}`;
const axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const password = 'correct horse battery';
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const counts = { pages: 0, steps: 0 };
const signal = new Promise((resolve) => process.once('SIGUSR2', resolve));

/// What a page must not say or do.
function watch(page) {
  page.setDefaultTimeout(30_000);
  page.on('pageerror', (error) => { throw error; });
  page.on('console', (message) => {
    // That a request was refused is logged by the browser itself, and some are meant to be.
    if (message.type() !== 'error' || message.text().startsWith('Failed to load resource')) return;
    throw new Error(message.text());
  });
}

async function step(name, run) {
  try {
    await run();
  } catch (error) {
    error.message = `${name}: ${error.message}`;
    throw error;
  }
  counts.steps += 1;
}

/// What is seen of passkeys fits narrow pages and can be read.
async function judge(page) {
  await page.setViewportSize({ width: 320, height: 900 });
  await page.evaluate(axe);
  const { violations } = await page.evaluate((tags) => axe.run(document, { runOnly: tags }), rules);
  assert.deepEqual(violations.map((one) => `${one.id} ${one.nodes[0].html}`), []);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.equal(wide, 0, 'the page is wider than the window');
  await page.setViewportSize({ width: 1280, height: 900 });
  counts.pages += 1;
}

async function signOut(page) {
  await page.goto(`${base}/account`);
  await page.getByRole('button', { name: 'Sign out here' }).click();
  await page.waitForURL(`${base}/`);
}

(async () => {
  const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage'];
  const browser = await chromium.launch({ executablePath, args });
  try {
    const context = await browser.newContext({ reducedMotion: 'reduce' });
    const page = await context.newPage();
    watch(page);
    const devices = await context.newCDPSession(page);
    await devices.send('WebAuthn.enable');
    const first = await devices.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    const alert = page.locator('form[data-passkey] [role=alert]');
    const told = page.locator('p.problem[role=alert]').first();

    await step('a person joins', async () => {
      await page.goto(`${base}/sign-up`);
      const form = page.locator('form[data-passkey]');
      await form.waitFor();
      await judge(page);
      await form.getByLabel('Nickname').fill('alpha');
      await form.getByRole('button', { name: 'Join with a passkey' }).click();
      await page.waitForURL(`${base}/account`);
      await page.getByRole('heading', { level: 1, name: 'alpha' }).waitFor();
      await page.getByText('my passkey').waitFor();
      await judge(page);
    });
    await step('a nickname that is taken is told beside the button', async () => {
      await signOut(page);
      await page.goto(`${base}/sign-up`);
      const form = page.locator('form[data-passkey]');
      await form.getByLabel('Nickname').fill('alpha');
      await form.getByRole('button').click();
      await alert.waitFor();
      assert.equal(await alert.textContent(), 'The nickname alpha is taken; choose another.');
      assert.equal(await form.getByRole('button').isEnabled(), true);
    });

    say({ restart: true });
    await signal;

    const enter = async () => {
      await page.goto(`${base}/sign-in?back=%2Faccount`);
      await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    };
    await step('the person comes back', async () => {
      await page.goto(`${base}/sign-in`);
      await page.locator('form[data-passkey]').waitFor();
      await judge(page);
      await enter();
      await page.waitForURL(`${base}/account`);
      await page.getByRole('heading', { level: 1, name: 'alpha' }).waitFor();
    });
    await step('one device has one passkey', async () => {
      await page.getByLabel('Name of the new passkey').fill('another');
      await page.getByRole('button', { name: 'Add a passkey' }).click();
      await alert.waitFor();
      assert.match(await alert.textContent(), /has a passkey of yours already/);
    });
    await step('another device has another', async () => {
      // Nobody touches the first one any more.
      await devices.send('WebAuthn.setAutomaticPresenceSimulation', { ...first, enabled: false });
      await devices.send('WebAuthn.addVirtualAuthenticator', {
        options: {
          protocol: 'ctap2', transport: 'usb', hasResidentKey: true, hasUserVerification: true, isUserVerified: true,
          automaticPresenceSimulation: true,
        },
      });
      await page.getByLabel('Name of the new passkey').fill('on my ring');
      await page.getByRole('button', { name: 'Add a passkey' }).click();
      await page.getByRole('cell', { name: '2 passkeys' }).waitFor();
      await page.getByText('on my ring').click();
      const shown = page.locator('details[open]').filter({ hasText: 'on my ring' });
      await shown.getByLabel('Another name').fill('in the drawer');
      await shown.getByRole('button', { name: 'Rename' }).click();
      await page.getByText('in the drawer').waitFor();
    });
    const remove = () => page.locator('form[action="/account/passkey-remove"] button').first().click();
    await step('the last way in stays', async () => {
      await remove();
      await page.getByRole('cell', { name: 'a passkey', exact: true }).waitFor();
      await remove();
      await told.waitFor();
      assert.match(await told.textContent(), /only way to sign in/);
    });
    await step('with a password it goes', async () => {
      await page.goto(`${base}/account`);
      await page.getByText('Set a password').click();
      await page.getByLabel('New password').fill(password);
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('cell', { name: 'a password' }).waitFor();
      await remove();
      await page.getByRole('cell', { name: 'a passkey', exact: true }).waitFor({ state: 'detached' });
      await signOut(page);
      await enter();
      await told.waitFor();
      assert.match(await told.textContent(), /Nobody here has this passkey/);
    });
    await step('without a script a password does', async () => {
      const plain = await browser.newContext({ javaScriptEnabled: false });
      const page = await plain.newPage();
      watch(page);
      await page.goto(`${base}/sign-in`);
      await page.getByText('Passkeys need JavaScript').waitFor();
      assert.equal(await page.getByRole('button', { name: 'Sign in with a passkey' }).isVisible(), false);
      await page.getByLabel('Nickname').fill('alpha');
      await page.getByLabel('Password').fill(password);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.waitForURL(`${base}/account`);
      await plain.close();
    });
    await step('a number is no name', async () => {
      const numbered = base.replace('localhost', '127.0.0.1');
      await page.goto(`${numbered}/sign-in`);
      assert.equal(await page.getByRole('button', { name: /passkey/ }).count(), 0);
      await page.getByLabel('Nickname').fill('alpha');
      await page.getByLabel('Password').fill(password);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByRole('link', { name: base }).click();
      await page.waitForURL(new RegExp(`^${base}/`));
    });
  } finally {
    await browser.close();
  }
  say({ checked: counts });
})().catch((error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exitCode = 1;
});
