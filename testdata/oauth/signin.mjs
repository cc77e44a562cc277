// A person at a browser, as $BROWSER: opens the URL in headless Chromium, signs in on the provider's pages, consents or
// cancels, and looks at the page that comes of it.
//
//   node signin.mjs DO URL
//
// DO is consent, cancel, or carry: to consent on a machine that the callback does not reach, and copy its address. What
// was seen is posted as JSON to $REPORT. Where $PICTURES names a folder the last page is kept there, light and dark.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { chromium } from 'playwright-core';

const [what, url] = process.argv.slice(2), { REPORT: report, PICTURES: pictures } = process.env;
const flags = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage',
  '--no-proxy-server', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
];
const callback = new URL(new URL(url).searchParams.get('redirect_uri'));
if (what === 'carry') flags[flags.length - 1] = `--host-resolver-rules=MAP ${callback.host} ~NOTFOUND`;
const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'signin-'));
const browser = await chromium.launchPersistentContext(profile, {
  executablePath: process.env.CHROMIUM || '/usr/bin/chromium', headless: true, args: flags, timeout: 60000,
  viewport: { width: 900, height: 620 },
});
const seen = { pages: [], requests: [], complaints: [], outside: [] };
try {
  await signIn(await browser.newPage());
} catch (e) {
  seen.trouble = e.name + ': ' + e.message.split('\n')[0].replaceAll(/\?\S*/g, '?…');
} finally {
  await browser.close();
  fs.rmSync(profile, { recursive: true, force: true });
}
await fetch(report, { method: 'POST', body: JSON.stringify(seen) });
process.exit(0); // nothing of it outlives its report

async function signIn(page) {
  page.setDefaultTimeout(30000);
  await page.route(u => u.hostname !== '127.0.0.1', route => { // the pages of the provider ask for fonts
    seen.outside.push(new URL(route.request().url()).hostname);
    return route.abort();
  });
  page.on('request', r => { if (arrived(r.frame().url())) seen.requests.push(new URL(r.url()).pathname); });
  page.on('console', m => { if (arrived(page.url())) seen.complaints.push(m.text()); });
  page.on('pageerror', e => seen.complaints.push(e.message));

  const failed = what === 'carry' && page.waitForEvent('requestfailed', r => arrived(r.url()));
  await page.goto(url);
  for (const step of ['login', 'consent']) {
    const form = page.locator(`form:has(input[name=prompt][value=${step}])`);
    await form.waitFor();
    seen.pages.push(step);
    const there = page.waitForEvent('requestfinished', r => r.isNavigationRequest()).catch(() => {});
    if (step === 'consent') {
      seen.asked = await page.locator('.login-card ul').first().innerText();
      if (what === 'cancel') await page.getByRole('link', { name: 'Cancel' }).click();
      else await form.getByRole('button').click();
    } else {
      await page.fill('input[name=login]', 'ana');
      await page.fill('input[name=password]', 'any');
      await form.getByRole('button').click();
    }
    await there;
  }
  if (what === 'carry') {
    seen.carried = (await failed).url();
    return;
  }
  await page.waitForURL(arrived, { waitUntil: 'load' });
  await look(page);
}

function arrived(u) { return new URL(u).pathname === '/callback'; }

// look describes the last page, in both colour schemes and on a narrow screen.
async function look(page) {
  const heading = page.getByRole('heading');
  seen.title = await page.title();
  seen.heading = await heading.innerText();
  seen.text = await page.locator('body').innerText();
  seen.scripts = await page.locator('script').count();
  seen.outer = await page.locator('[src], [href]').count();
  seen.lang = await page.locator('html').getAttribute('lang');
  seen.colours = {};
  for (const scheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme: scheme });
    seen.colours[scheme] = await page.evaluate(() => {
      const ground = getComputedStyle(document.body).backgroundColor;
      return [...document.querySelectorAll('h1, p, code')].map(e => [e.localName, getComputedStyle(e).color, ground]);
    });
    if (pictures) await page.screenshot({ path: path.join(pictures, `${what}-${scheme}.png`) });
  }
  await page.setViewportSize({ width: 320, height: 480 });
  seen.overflows = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
  if (pictures) await page.screenshot({ path: path.join(pictures, `${what}-narrow.png`) });
}
