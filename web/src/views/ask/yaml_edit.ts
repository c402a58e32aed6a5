// One value of a train.yaml, read and changed line by line, so that comments and the order of the
// reader's text stay. It knows the plain forms (a block of "key: value" lines, one-line mappings and
// lists without quotes); anything else is left to the text editor.

export type Place = [section: string, key: string];

export type Found = { kind: 'value'; value: string } | { kind: 'absent' } | { kind: 'other' };

interface Spot {
  section: number; // line of "section:", -1: there is none
  line: number; // of the key, -1: there is none
  end: number; // behind the last line of the section
  indent: string; // of the section's keys
  odd: boolean; // written in a way that is not understood
  inline: boolean; // section: {key: value}
}

const kIndent = '  ';
const keyLine = (key: string) => new RegExp(`^(\\s*)${key}\\s*:(.*)$`);
const isBlank = (line: string) => /^\s*(#.*)?$/.test(line);
const indentOf = (line: string) => /^\s*/.exec(line)?.[0] ?? '';

/** The text of a scalar without its comment; null where it is more than a plain one. */
function scalarOf(rest: string): string | null {
  const text = rest.replace(/\s+#.*$/, '').trim();
  if (/^["'].*["']$/.test(text) && !/["'\\]/.test(text.slice(1, -1))) return text.slice(1, -1);
  return /^[|>&*!{"'%@`]/.test(text) ? null : text;
}

function spotOf(lines: string[], [section, key]: Place): Spot {
  const none: Spot = { section: -1, line: -1, end: lines.length, indent: kIndent, odd: false, inline: false };
  if (lines.some((line) => /^(sections|stages|---|\.\.\.|\t)/.test(line))) return { ...none, odd: true };
  const heads = lines.flatMap((line, at) => (keyLine(section).test(line) && indentOf(line) === '' ? [at] : []));
  if (heads.length > 1) return { ...none, odd: true };
  const head = heads[0];
  if (head === undefined) return none;
  const rest = (keyLine(section).exec(lines[head] ?? '')?.[2] ?? '').replace(/(^|\s+)#.*$/, '').trim();
  if (rest !== '') {
    const simple = /^\{[^{}"'#&*]*\}$/.test(rest) && !/\[[^\]]*\[/.test(rest);
    return { ...none, section: head, line: head, end: head + 1, inline: true, odd: !simple };
  }
  let end = head + 1;
  while (end < lines.length && (isBlank(lines[end] ?? '') || indentOf(lines[end] ?? '') !== '')) end += 1;
  while (end > head + 1 && isBlank(lines[end - 1] ?? '')) end -= 1;
  const first = lines.slice(head + 1, end).find((line) => !isBlank(line));
  const indent = first === undefined ? kIndent : indentOf(first);
  const found = lines.slice(head + 1, end).flatMap((line, at) => (keyLine(key).test(line) && indentOf(line) === indent ? [head + 1 + at] : []));
  return { section: head, line: found[0] ?? -1, end, indent, odd: found.length > 1, inline: false };
}

// "key: value" pairs of a one-line mapping; a value may be a list in brackets.
const kPair = /\s*([A-Za-z0-9_]+)\s*:\s*(\[[^\]]*\]|[^,{}[\]]*)\s*(?:,|$)/y;

function pairsOf(line: string): [string, string][] | null {
  const inner = line.slice(line.indexOf('{') + 1, line.lastIndexOf('}'));
  const pairs: [string, string][] = [];
  kPair.lastIndex = 0;
  while (kPair.lastIndex < inner.length) {
    const found = kPair.exec(inner);
    if (!found) return inner.trim() === '' ? [] : null;
    pairs.push([found[1] ?? '', (found[2] ?? '').trim()]);
  }
  return pairs;
}

/** What the text has at `place`. */
export function readValue(text: string, place: Place): Found {
  const lines = text.split('\n');
  const spot = spotOf(lines, place);
  if (spot.odd) return { kind: 'other' };
  if (spot.inline) {
    const pairs = pairsOf(lines[spot.line] ?? '');
    if (pairs === null) return { kind: 'other' };
    const pair = pairs.find(([key]) => key === place[1]);
    return pair ? { kind: 'value', value: pair[1] } : { kind: 'absent' };
  }
  if (spot.line < 0) return { kind: 'absent' };
  const value = scalarOf(keyLine(place[1]).exec(lines[spot.line] ?? '')?.[2] ?? '');
  const next = lines.slice(spot.line + 1, spot.end).find((line) => !isBlank(line));
  const nested = value === '' && next !== undefined && (indentOf(next).length > spot.indent.length || /^\s*-\s/.test(next));
  return value === null || nested ? { kind: 'other' } : { kind: 'value', value };
}

/** The text with `value` at `place`; "" takes the key out. Unchanged where it is not understood. */
export function writeValue(text: string, place: Place, value: string): string {
  const before = readValue(text, place);
  if (before.kind === 'other' || (before.kind === 'absent' && value === '')) return text;
  const lines = text.split('\n');
  const spot = spotOf(lines, place);
  const [section, key] = place;
  if (spot.inline) {
    const line = lines[spot.line] ?? '';
    const rest = (pairsOf(line) ?? []).filter(([name]) => name !== key || value !== '');
    const pairs: [string, string][] = rest.map(([name, old]) => [name, name === key ? value : old]);
    if (before.kind === 'absent') pairs.push([key, value]);
    const inner = pairs.map(([name, one]) => `${name}: ${one}`).join(', ');
    lines[spot.line] = `${line.slice(0, line.indexOf('{'))}{${inner}}${line.slice(line.lastIndexOf('}') + 1)}`;
  } else if (spot.line >= 0) {
    if (value === '') lines.splice(spot.line, 1);
    else lines[spot.line] = withScalar(lines[spot.line] ?? '', key, value);
  } else if (spot.section >= 0) {
    lines.splice(spot.section + 1, 0, `${spot.indent}${key}: ${value}`);
  } else {
    while (lines.length > 0 && lines[lines.length - 1] === '') lines.pop();
    lines.push('', `${section}:`, `${kIndent}${key}: ${value}`, '');
  }
  return lines.join('\n');
}

function withScalar(line: string, key: string, value: string): string {
  const [, indent = '', rest = ''] = keyLine(key).exec(line) ?? [];
  const comment = /\s+#.*$/.exec(rest)?.[0] ?? '';
  return `${indent}${key}: ${value}${comment}`;
}

/** A word of YAML that cannot be taken for anything but text, or null. */
export function plainWord(text: string): string | null {
  const word = text.trim();
  if (!/^[A-Za-z0-9][A-Za-z0-9_.\-/]{0,120}$/.test(word)) return null;
  return /^(true|false|yes|no|on|off|null|~|[\d.eE+-]+)$/i.test(word) ? `"${word}"` : word;
}
