// What a build of the package says about every vector, a line of canonical JSON each, as `bailiwick conformance --results` does.
// Runs in Node and in browsers, and asks nothing but the package's public functions.

/** `files`: text by path, in the order of their paths. */
export function sayAll(api, files) {
  return Object.entries(files).flatMap(([file, text]) =>
    casesOf(api, file, text, files).map(({ id, ...said }) => api.canonicalize({ ...said, file, id })),
  );
}

function casesOf(api, file, text, files) {
  if (file.startsWith('passes/')) return parts(text).flatMap(([, vector]) => pass(api, vector));
  if (text.trimStart().startsWith('[')) return parts(text).map(([, vector], at) => work(api, vector, at + 1));
  const vectors = JSON.parse(text);
  switch (vectors.format) {
    case 'coordination-journal/1':
      return preimages(api, vectors);
    case 'bailiwick.conformance-journal/1':
      return vectors.variants.map((variant) => edited(api, variant, files[file.replace(/[^/]*$/, `${variant.base}.json`)]));
    case 'bailiwick.conformance-journal-export/1':
      return vectors.cases.map((vector) => ({ id: vector.id, ...verdict(api, vector, vector.lines.map((line) => `${line}\n`)) }));
    case 'bailiwick.conformance-merkle/1':
      return merkle(api, vectors);
    case 'bailiwick.conformance-decisions/1':
      return vectors.cases.flatMap((vector) => decided(api, vector));
    default:
      return [];
  }
}

/** Nothing in the small build, which has no passes. A chain's vector is verified by the public function, too. */
function pass(api, vector) {
  const { id, kind, passes, keys, check, revocations } = JSON.parse(vector);
  try {
    const said = api.runPassVector(vector);
    if (kind === 'pass') {
      const { ids, expires_at, ...verdict } = api.verifyPasses(passes, keys, { ...check, ...(revocations && { revocations }) });
      if (api.canonicalize(verdict) !== api.canonicalize(said)) return [{ id, verdict }];
    }
    return [{ id, ...said }];
  } catch (error) {
    if (error instanceof api.BailiwickError && error.code === 'not_in_this_build') return [];
    throw error;
  }
}

/** Nothing in the small build, which makes no decision again. */
function decided(api, { id, lines }) {
  let verifier;
  try {
    verifier = new api.JournalVerifier({ decisions: 'again' });
  } catch (error) {
    if (error instanceof api.BailiwickError) return [];
    throw error;
  }
  lines.forEach((line) => verifier.push(`${line}\n`));
  const { first_failure, decisions } = verifier.finish();
  const { first_difference, ...counts } = decisions;
  const difference = first_difference && { code: first_difference.code, sequence: first_difference.sequence };
  return [{ id, chain_ok: !first_failure, ...counts, ...(difference && { difference }) }];
}

/** Documents go in as they are spelled in the file, so that large numbers stay what they are. */
function work(api, vector, number) {
  const { id, kind, order, report, parent, siblings, sub_orders } = Object.fromEntries(parts(vector));
  const said = { order: () => api.validateOrder(order), report: reported, child };
  const { findings, skipped } = said[JSON.parse(kind)]();
  return { id: id === undefined ? `number ${number}` : JSON.parse(id), findings, skipped };

  function reported() {
    const { findings, skipped } = api.validateReport(report, order);
    const broken = findings.some((finding) => finding.rule === 'R1');
    const own = sub_orders === undefined || broken ? [] : api.validateOwnCost(report, order, sub_orders).findings;
    return { findings: [...findings, ...own], skipped };
  }

  function child() {
    const { findings, skipped } = api.validateChildOrder(order, parent);
    const together = siblings === undefined ? [] : api.validateChildBudgets(order, parent, siblings).findings;
    return { findings: [...findings, ...together], skipped };
  }
}

function preimages(api, journal) {
  return journal.events.flatMap((row) => {
    const preimage = api.journalPreimage(row);
    const cases = [{ id: `entry ${row.sequence}`, hash: api.journalHash(row), preimage }];
    if (journal.preimages?.[row.sequence] !== undefined) cases.push({ id: `preimage of entry ${row.sequence}`, preimage });
    return cases;
  });
}

function edited(api, variant, base) {
  const { workspace, events } = JSON.parse(base);
  for (const { op, event_id, column, value, row } of variant.edits) {
    const at = events.findIndex((event) => event.id === event_id);
    if (op === 'set') events[at][column] = value;
    else if (op === 'delete') events.splice(at, 1);
    else if (op === 'insert') events.push(row);
    else workspace[column] = value;
  }
  const journal = { format: 'coordination-journal/1', workspace, events };
  const said = { id: variant.id, ...verdict(api, variant, [JSON.stringify(journal)]) };
  if (variant.expect.first_page_valid !== undefined) said.page = firstPage(api, workspace, events);
  return said;
}

function firstPage(api, workspace, events) {
  try {
    return api.verifyPage({
      epoch_id: workspace.epoch_id,
      rows: [...events].sort((a, b) => a.sequence - b.sequence),
      head_sequence: workspace.event_head_sequence,
      head_hash: workspace.event_head_hash,
    });
  } catch (error) {
    if (error instanceof api.BailiwickError) return undefined;
    throw error;
  }
}

function verdict(api, { workspace, prefix }, chunks) {
  const verifier = new api.JournalVerifier({ workspace_id: workspace, up_to: prefix });
  chunks.forEach((chunk) => verifier.push(chunk));
  try {
    return verifier.finish();
  } catch (error) {
    if (error instanceof api.BailiwickError) return { error: error.code, line: error.line, message: error.message };
    throw error;
  }
}

function merkle(api, vectors) {
  const leaves = vectors.leaves.map((leaf) => api.leafHash(Uint8Array.from(leaf.match(/../g) ?? [], (digits) => parseInt(digits, 16))));
  const { roots } = vectors;
  const cases = roots.map((_, size) => ({ id: `root of ${size}`, root: api.merkleRoot(leaves.slice(0, size)) }));
  for (const { index, size, path } of vectors.inclusion) {
    const proof = held(api, () => api.verifyInclusion({ index, size, leaf: leaves[index], path, root: roots[size] }));
    cases.push({ id: `inclusion of ${index} in ${size}`, path: api.proveInclusion(leaves.slice(0, size), index), proof });
  }
  for (const { old_size, new_size, path } of vectors.consistency) {
    const proof = held(api, () =>
      api.verifyConsistency({ old_size, new_size, old_root: roots[old_size], new_root: roots[new_size], path }),
    );
    cases.push({ id: `consistency of ${old_size} with ${new_size}`, path: api.proveConsistency(leaves.slice(0, new_size), old_size), proof });
  }
  return cases;
}

function held(api, verify) {
  try {
    verify();
    return 'proven';
  } catch (error) {
    if (error instanceof api.BailiwickError) return error.message;
    throw error;
  }
}

/** The members of an object or the items of an array, each with the text that it is spelled with. */
export function parts(text) {
  const found = [];
  let at = skip(text, 0);
  const isObject = text[at] === '{';
  at = skip(text, at + 1);
  while (text[at] !== '}' && text[at] !== ']') {
    let name = found.length;
    if (isObject) {
      const end = valueEnd(text, at);
      name = JSON.parse(text.slice(at, end));
      at = skip(text, skip(text, end) + 1);
    }
    const end = valueEnd(text, at);
    found.push([name, text.slice(at, end)]);
    at = skip(text, end);
    if (text[at] === ',') at = skip(text, at + 1);
  }
  return found;
}

function skip(text, at) {
  while (' \n\r\t'.includes(text[at])) at += 1;
  return at;
}

function valueEnd(text, at) {
  let depth = 0;
  for (;;) {
    const c = text[at];
    if (c === '"') at = stringEnd(text, at);
    else if (c === '{' || c === '[') (depth += 1), (at += 1);
    else if (c === '}' || c === ']') (depth -= 1), (at += 1);
    else if (depth > 0) at += 1;
    else while (at < text.length && !',]} \n\r\t'.includes(text[at])) at += 1;
    if (depth === 0) return at;
  }
}

function stringEnd(text, at) {
  for (at += 1; text[at] !== '"'; at += 1) if (text[at] === '\\') at += 1;
  return at + 1;
}
