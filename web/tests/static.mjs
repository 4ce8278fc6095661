// Any web server at all: the files of the dashboard in some folder, and nothing else.

import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { extname, join, normalize, sep } from 'node:path';
import { once } from 'node:events';

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm', '.svg': 'image/svg+xml' };

/** Serves the files of `folder` under `prefix`; resolves to `{ origin, asked, close() }`, where `asked` lists the paths asked for. */
export async function serveFolder(folder, prefix) {
  const asked = [];
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost');
    asked.push(pathname);
    const content = pathname.startsWith(prefix) ? await contentOf(folder, pathname.slice(prefix.length)) : undefined;
    if (!content) return response.writeHead(404, { 'content-type': 'text/plain' }).end('not here');
    response.writeHead(200, { 'content-type': TYPES[content.type] ?? 'application/octet-stream' }).end(content.bytes);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); });
  return { origin: `http://127.0.0.1:${server.address().port}`, asked, close };
}

async function contentOf(folder, path) {
  const file = normalize(join(folder, path === '' || path.endsWith('/') ? `${path}index.html` : path));
  if (!file.startsWith(normalize(folder) + sep)) return undefined;
  try {
    return { type: extname(file), bytes: await readFile(file) };
  } catch {
    return undefined;
  }
}
