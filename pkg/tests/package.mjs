// The package as others get it: packed, judged, installed, type-checked, bundled, run.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { build as bundle } from 'esbuild';
import { publint } from 'publint';

import { BUILDS, PACKAGE, check, finish, giveUpAfter, inBrowser } from './harness.mjs';

giveUpAfter(600);
const TOOLS = join(PACKAGE, 'tests/node_modules/.bin');
const home = mkdtempSync(join(tmpdir(), 'bailiwick-package-'));
process.on('exit', () => rmSync(home, { recursive: true, force: true }));
const run = (program, ...args) => execFileSync(program, args, { cwd: home, encoding: 'utf8', maxBuffer: 1 << 26, stdio: ['ignore', 'pipe', 'pipe'] });
const explained = (work) => {
  try {
    return work();
  } catch (error) {
    throw new Error(`${error.message}\n${error.stdout}\n${error.stderr}`);
  }
};

const [packed] = JSON.parse(execFileSync('npm', ['pack', '--json', '--pack-destination', home], { cwd: PACKAGE, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
const tarball = join(home, packed.filename);

await check('the package holds what it should and nothing else', () => {
  const files = packed.files.map((file) => file.path);
  const expected = ['LICENSE', 'NOTICE', 'README.md', 'package.json'];
  for (const build of BUILDS) {
    for (const file of ['api.js', 'bailiwick.wasm', 'boundary.js', 'browser.js', 'constants.js', 'index.d.ts', 'journal.js', 'node.js', 'ready.js', 'rules.js', 'worker.js']) {
      expected.push(`dist/${build}/${file}`);
    }
  }
  assert.deepEqual(files.sort(), expected.sort());
});

await check('publint has nothing to say', async () => {
  const { messages } = await publint({ pkgDir: PACKAGE, strict: true });
  assert.deepEqual(messages, []);
});

await check('are the types wrong? no', () => {
  // It ends with an error when they are. Modules only: there is nothing for `require`.
  explained(() => run(join(TOOLS, 'attw'), tarball, '--profile', 'esm-only', '--exclude-entrypoints', './bailiwick.wasm', './bailiwick-full.wasm'));
});

await check('types: no `any`, and exactly what is exported', async () => {
  for (const build of BUILDS) {
    const types = readFileSync(join(PACKAGE, `dist/${build}/index.d.ts`), 'utf8').replace(/\/\*[^]*?\*\/|\/\/.*/g, '');
    assert.doesNotMatch(types, /\bany\b/);
    const declared = [...types.matchAll(/export (?:declare )?(?:function|const|class) (\w+)/g)].map(([, name]) => name);
    const api = await import(`../dist/${build}/node.js`);
    assert.deepEqual([...new Set([...declared, 'default'])].sort(), Object.keys(api).sort());
    const program = readFileSync(join(PACKAGE, 'tests/program.ts'), 'utf8');
    assert.deepEqual(Object.keys(api).filter((name) => name !== 'default' && !program.includes(name)), []);
  }
});

await check('it installs in an empty project', () => {
  writeFileSync(join(home, 'package.json'), JSON.stringify({ name: 'empty', private: true, type: 'module' }));
  explained(() => run('npm', 'install', '--offline', '--no-audit', '--no-fund', '--ignore-scripts', tarball));
});

const STRICT = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, noPropertyAccessFromIndexSignature: true, target: 'es2022', types: [] };
for (const [name, options] of [
  ['in Node', { module: 'nodenext', lib: ['es2022'] }],
  ['for a bundler', { module: 'esnext', moduleResolution: 'bundler', lib: ['es2022', 'dom'] }],
]) {
  await check(`a program that uses every export type-checks ${name}`, () => {
    cpSync(join(PACKAGE, 'tests/program.ts'), join(home, 'program.ts'));
    writeFileSync(join(home, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...STRICT, ...options }, files: ['program.ts'] }));
    explained(() => run(join(TOOLS, 'tsc')));
  });
}

await check('and runs in Node', () => explained(() => run('node', 'program.js')));

await check('the README\'s examples run', () => {
  const readme = readFileSync(join(PACKAGE, 'README.md'), 'utf8');
  const examples = [...readme.matchAll(/```js\n([^]*?)```/g)].map(([, code]) => code);
  assert.ok(examples.length >= 2);
  examples.forEach((code, at) => {
    writeFileSync(join(home, `example-${at}.js`), code);
    explained(() => run('node', `example-${at}.js`));
  });
});

const using = (specifier, load = 'await init();') => `
  import init, { BailiwickError, validateOrder, workOrderSchema } from '${specifier}';
  let early;
  try { validateOrder({}); } catch (error) { early = error instanceof BailiwickError ? error.code : String(error); }
  ${load}
  globalThis.answer = { early, findings: validateOrder(workOrderSchema.examples[0]).findings };
`;

await check('on an edge worker the module comes from the caller', () => {
  writeFileSync(join(home, 'edge.js'), `
    import { readFileSync } from 'node:fs';
    const bytes = readFileSync(new URL(import.meta.resolve('bailiwick/bailiwick.wasm')));
    const without = await import('bailiwick').then(({ init }) => init()).catch((error) => error.code);
    ${using('bailiwick', 'await init(new WebAssembly.Module(bytes));')}
    console.log(JSON.stringify({ without, ...globalThis.answer }));
  `);
  const said = JSON.parse(explained(() => run('node', '--conditions=workerd', 'edge.js')));
  assert.deepEqual(said, { without: 'not_loaded', early: 'not_ready', findings: [] });
});

await check('a bundle for Node runs beside the wasm file', async () => {
  writeFileSync(join(home, 'entry.js'), `${using('bailiwick')} console.log(JSON.stringify(globalThis.answer));`);
  mkdirSync(join(home, 'node-bundle'));
  await bundle({ entryPoints: [join(home, 'entry.js')], bundle: true, platform: 'node', format: 'esm', outfile: join(home, 'node-bundle/entry.mjs'), logLevel: 'silent' });
  cpSync(join(PACKAGE, 'dist/small/bailiwick.wasm'), join(home, 'node-bundle/bailiwick.wasm'));
  assert.deepEqual(JSON.parse(explained(() => run('node', 'node-bundle/entry.mjs'))), { findings: [] });
});

const pages = join(home, 'pages');
mkdirSync(pages);
await check('bundles for browsers are made', async () => {
  const entries = {
    beside: using('bailiwick'),
    inside: `import bytes from 'bailiwick/bailiwick-full.wasm'; ${using('bailiwick/full', 'await init(bytes);')}`,
  };
  for (const [name, code] of Object.entries(entries)) {
    writeFileSync(join(home, `${name}.js`), code);
    await bundle({ entryPoints: [join(home, `${name}.js`)], bundle: true, format: 'esm', outfile: join(pages, `${name}.js`), loader: { '.wasm': 'binary' }, logLevel: 'silent' });
  }
  cpSync(join(PACKAGE, 'dist/small/bailiwick.wasm'), join(pages, 'bailiwick.wasm'));
  BUILDS.forEach((build) => cpSync(join(PACKAGE, 'dist', build), join(pages, build), { recursive: true }));
  BUILDS.forEach((build) => writeFileSync(join(pages, `plain-${build}.js`), using(`./${build}/browser.js`)));
});

await inBrowser(pages, async (page, complaints) => {
  for (const name of ['beside', 'inside', 'plain-small', 'plain-full']) {
    await check(`in a browser, under a strict policy: ${name}`, async () => {
      const answer = await page.evaluate(async (name) => (await import(`/${name}.js`), globalThis.answer), name);
      assert.deepEqual(answer, { early: 'not_ready', findings: [] });
      assert.deepEqual(complaints, []);
    });
  }
});

finish();
