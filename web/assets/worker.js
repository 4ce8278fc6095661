// The engine beside the page: checks one thing and says what it found. The page ends it when it has its answer.
//
// In:  {kind: "order", order} | {kind: "report", report, order}: JSON texts
//      {kind: "journal", blob} | {kind: "journal", address}
// Out: JSON texts, because the page reads JSON anyway:
//      {kind: "progress", entries, bytes, total_bytes, seconds}
//      {kind: "done", result, …progress} | {kind: "failed", code, message, …progress}
import init, * as engine from "./bailiwick.js";

/** Milliseconds between two messages about progress. */
const PAUSE = 100;

/** Bytes that are read at once. */
const BUFFER = 1 << 20;

self.onmessage = async ({ data: request }) => {
  const progress = { entries: 0, bytes: 0, total_bytes: null, seconds: 0 };
  try {
    await init();
    const result = await answer(request, progress);
    say({ kind: "done", result, ...progress });
  } catch (error) {
    say({ kind: "failed", code: error.code ?? "engine_failed", message: error.message, ...progress });
  }
};

function answer(request, progress) {
  switch (request.kind) {
    case "order":
      return engine.validateOrder(request.order);
    case "report":
      return engine.validateReport(request.report, request.order);
    default:
      return verify(request, progress);
  }
}

/** Verifies a journal as it streams by, so that its length does not matter. */
async function verify(request, progress) {
  const chunks = await open(request, progress);
  const verifier = new engine.JournalVerifier();
  const start = performance.now();
  let told = start;
  for await (const chunk of chunks) {
    verifier.push(chunk);
    const now = performance.now();
    progress.entries = Number(verifier.entries);
    progress.seconds = (now - start) / 1000;
    if (now - told >= PAUSE) {
      told = now;
      say({ kind: "progress", ...progress });
    }
  }
  const report = verifier.finish();
  progress.entries = Number(report.checked_events);
  progress.seconds = (performance.now() - start) / 1000;
  return report;
}

/** The bytes of a journal, unpacked if it is packed; counts them as they come in. Each chunk is good until the next. */
async function open({ blob, address }, progress) {
  if (!blob) return read((await fetched(address)).body, progress);
  progress.total_bytes = blob.size;
  return (await isPacked(blob)) ? unpack(blob.stream(), progress) : read(blob.stream(), progress);
}

/**
 * Reads into one buffer over and over: the chunks that a browser makes by itself stay in memory until it collects them, and
 * Chromium does not while a worker is busy, so that a journal would be in memory as a whole in the end.
 */
async function* read(stream, progress) {
  const reader = stream.getReader({ mode: "byob" });
  let buffer = new ArrayBuffer(BUFFER);
  for (;;) {
    const { done, value } = await reader.read(new Uint8Array(buffer));
    if (done) return;
    progress.bytes += value.byteLength;
    yield value;
    buffer = value.buffer;
  }
}

/** Browsers unpack into chunks of their own only. */
async function* unpack(stream, progress) {
  const counted = new TransformStream({
    transform(chunk, controller) {
      progress.bytes += chunk.byteLength;
      controller.enqueue(chunk);
    },
  });
  const reader = stream.pipeThrough(counted).pipeThrough(new DecompressionStream("gzip")).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

async function isPacked(blob) {
  const [first, second] = new Uint8Array(await blob.slice(0, 2).arrayBuffer());
  return first === 0x1f && second === 0x8b;
}

async function fetched(address) {
  const response = await fetch(address, { credentials: "same-origin", cache: "no-store" });
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({}));
  throw Object.assign(new Error(problem.detail ?? `the desk answered with HTTP status ${response.status}`), {
    code: problem.code ?? "http_error",
  });
}

function say(message) {
  self.postMessage(JSON.stringify(message));
}
