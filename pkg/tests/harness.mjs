// What every test of the package shares: the count of its checks, where things are, and a page in a browser.

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

export const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
export const PROJECT = join(PACKAGE, '..');
/** The `bailiwick` program. */
export const PROGRAM = process.env.BAILIWICK_BIN ?? join(PROJECT, 'target/debug/bailiwick');
export const BUILDS = ['small', 'full'];

const tally = { passed: 0, failed: 0 };

/** Runs one check and counts it. */
export async function check(name, run) {
  try {
    await run();
    tally.passed += 1;
    console.log(`ok      ${name}`);
  } catch (error) {
    tally.failed += 1;
    console.log(`FAILED  ${name}\n${String(error?.stack ?? error).replace(/^/gm, '        ')}`);
  }
}

/** Prints the count as the last line and ends the process, with 1 if a check failed. */
export function finish() {
  console.log(`${tally.passed} passed, ${tally.failed} failed`);
  process.exit(tally.failed === 0 ? 0 : 1);
}

/** Ends the process as failed when it takes longer than `seconds`. */
export function giveUpAfter(seconds) {
  setTimeout(() => {
    console.log(`FAILED: not done after ${seconds} s`);
    process.exit(1);
  }, seconds * 1000).unref();
}

/** The vectors' files, by their path below `conformance/`. */
export function vectorFiles() {
  const home = join(PROJECT, 'conformance');
  const names = readdirSync(home, { recursive: true }).filter((name) => name.endsWith('.json'));
  return Object.fromEntries(names.sort().map((name) => [name.replaceAll('\\', '/'), readFileSync(join(home, name), 'utf8')]));
}

/** What the program says about every vector, a line each. */
export function nativeLines() {
  const said = execFileSync(PROGRAM, ['conformance', join(PROJECT, 'conformance'), '--results'], { maxBuffer: 1 << 28, encoding: 'utf8' });
  return said.trimEnd().split('\n');
}

/** How the lines of a build differ from the program's, and which vectors it said it could not judge. */
export function compare(program, lines, build) {
  // The small build makes no decision again, and has no passes.
  const isFor = (line) => build !== 'small' || !/^(decisions|passes)\//.test(JSON.parse(line).file);
  const native = program.filter(isFor);
  const differences = [];
  const skipped = [];
  for (let at = 0; at < Math.max(native.length, lines.length); at++) {
    if (native[at] === lines[at]) continue;
    const said = lines[at] === undefined ? undefined : JSON.parse(lines[at]);
    if (build === 'small' && said?.skipped?.length > 0 && native[at] === withoutSkipped(native[at], said)) {
      skipped.push(said.id);
      continue;
    }
    differences.push(`native ${native[at]}\n${build} ${lines[at]}`);
  }
  return { differences, skipped };
}

/** The program's line, if what is left of it without the rules that were skipped is what was said; else nothing. */
function withoutSkipped(line, said) {
  const full = JSON.parse(line);
  const left = full.findings.filter((finding) => !said.skipped.includes(finding.rule));
  const same = full.skipped.length === 0 && full.id === said.id && full.file === said.file;
  return same && JSON.stringify(left) === JSON.stringify(said.findings) ? line : undefined;
}

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.mjs': 'text/javascript', '.wasm': 'application/wasm', '.json': 'application/json' };

/** Opens a browser on a page served from `folder` and runs `inside` with it. The policy is the dashboard's. */
export async function inBrowser(folder, inside) {
  const { chromium } = await import('playwright-core');
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, 'http://localhost').pathname));
    try {
      const content = path === '/' ? '<!doctype html><meta charset="utf-8"><title>test</title>' : readFileSync(join(folder, path));
      const type = path === '/' ? 'text/html' : (TYPES[extname(path)] ?? 'application/octet-stream');
      response.writeHead(200, { 'content-type': type, 'content-security-policy': "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'" });
      response.end(content);
    } catch {
      // Browsers ask for an icon by themselves; there is none.
      response.writeHead(path === '/favicon.ico' ? 204 : 404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const browser = await chromium.launch({
    executablePath: process.env.BAILIWICK_CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
  try {
    const page = await browser.newPage();
    const complaints = [];
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    await page.goto(`http://127.0.0.1:${server.address().port}/`);
    await inside(page, complaints);
  } finally {
    await browser.close();
    server.close();
  }
}
