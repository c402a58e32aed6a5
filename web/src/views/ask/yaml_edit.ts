// One value of a train.yaml, read and changed where it stands, so that the rest of the reader's text stays as it is: the parser says
// where each part begins and ends.
import { isAlias, isMap, isScalar, isSeq, parseAllDocuments } from 'yaml';
import type { Document, Pair, ParsedNode, Scalar, YAMLMap } from 'yaml';

/** A key of a section, or one at the top. */
export type Place = [section: string, key: string] | [key: string];

export type Found = { kind: 'value'; value: string } | { kind: 'absent' } | { kind: 'other' };

type Mapping = YAMLMap.Parsed;
type Row = Pair<ParsedNode, ParsedNode | null>;

/** The document; null where it is more than one, or not to be changed by a form: broken, or of several trainings. */
function documentOf(text: string): Document.Parsed | null {
  const all = parseAllDocuments(text);
  const [document] = all;
  if (!Array.isArray(all) || all.length > 1 || !document) return null;
  const { contents } = document;
  if (document.errors.length > 0 || (contents !== null && !isMap(contents))) return null;
  return document.has('sections') || document.has('stages') ? null : document;
}

const rowOf = (map: Mapping | null, key: string): Row | undefined => map?.items?.find((row) => isScalar(row.key) && row.key.value === key);

interface Spot {
  map: Mapping | null; // that has the key, or would
  row: Row | undefined;
  section: Row | undefined;
  odd: boolean;
}

const kOdd: Spot = { map: null, row: undefined, section: undefined, odd: true };

function spotOf(text: string, place: Place): Spot {
  const document = text.trim() === '' ? null : documentOf(text);
  if (text.trim() !== '' && !document) return /^\s*(#.*\s*)*$/.test(text) ? { ...kOdd, odd: false } : kOdd;
  const top = (document?.contents ?? null) as Mapping | null;
  const [first, second] = place;
  const section = rowOf(top, first);
  if (second === undefined) return { map: top, row: section, section: undefined, odd: false };
  const value = section?.value ?? null;
  const empty = value === null || (isScalar(value) && value.value === null);
  if (section && !empty && !isMap(value)) return kOdd;
  const map = isMap(value) ? value : null;
  return { map, row: rowOf(map, second), section, odd: false };
}

/** The one value of a scalar, or of a list of one; null where it is more. */
function scalarOf(value: ParsedNode | null): Scalar.Parsed | null {
  if (isSeq(value) && value.items.length === 1) return scalarOf(value.items[0] as ParsedNode);
  return isScalar(value) && !value.source?.includes('\n') ? value : null;
}

const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';

/** What the text has at `place`. */
export function readValue(text: string, place: Place): Found {
  const { row, odd } = spotOf(text, place);
  if (odd || isAlias(row?.value)) return { kind: 'other' };
  if (!row) return { kind: 'absent' };
  const scalar = scalarOf(row.value);
  return scalar ? { kind: 'value', value: textOf(scalar.value) } : { kind: 'other' };
}

const kIndent = '  ';
const lineStart = (text: string, at: number) => text.lastIndexOf('\n', at - 1) + 1;
const splice = (text: string, from: number, to: number, put: string) => text.slice(0, from) + put + text.slice(to);

/** The text with the word `value` at `place`; "" takes the key out. Unchanged where a form cannot change it. */
export function writeValue(text: string, place: Place, value: string): string {
  const before = readValue(text, place);
  if (before.kind === 'other' || (before.kind === 'absent' && value === '')) return text;
  const { map, row, section } = spotOf(text, place);
  const key = place[place.length - 1] ?? '';
  if (row && map) return value === '' ? without(text, map, row) : withValue(text, row, value);
  const line = `${key}: ${value}`;
  if (map?.flow) return splice(text, map.range[1] - 1, map.range[1] - 1, map.items.length > 0 ? `, ${line}` : line);
  if (map) {
    const first = map.items[0]?.key.range[0] ?? map.range[0];
    const start = lineStart(text, first);
    return place.length === 1 ? atTheEnd(text, `${line}\n`) : splice(text, start, start, `${text.slice(start, first)}${line}\n`);
  }
  if (!section) return atTheEnd(text, place.length === 1 ? `${line}\n` : `${place[0]}:\n${kIndent}${line}\n`);
  const end = text.indexOf('\n', section.key.range[1]);
  const rest = end < 0 ? text.length : end;
  return splice(text, rest, rest, `\n${kIndent}${line}`);
}

const atTheEnd = (text: string, lines: string) => `${text.replace(/\n*$/, '')}\n\n${lines}`;

function withValue(text: string, row: Row, value: string): string {
  const range = row.value?.range;
  if (range && range[1] > range[0]) return splice(text, range[0], range[1], value);
  const colon = text.indexOf(':', row.key.range[1]) + 1; // "key:" and nothing
  return splice(text, colon, colon, ` ${value}`);
}

function without(text: string, map: Mapping, row: Row): string {
  const rows = map.items as Row[];
  const at = rows.indexOf(row);
  const end = row.value?.range[1] ?? row.key.range[1];
  if (!map.flow) {
    const stop = text.indexOf('\n', end);
    return splice(text, lineStart(text, row.key.range[0]), stop < 0 ? text.length : stop + 1, '');
  }
  const next = rows[at + 1];
  const last = rows[at - 1];
  if (next) return splice(text, row.key.range[0], next.key.range[0], '');
  return splice(text, last ? (last.value?.range[1] ?? last.key.range[1]) : row.key.range[0], end, '');
}

/** A word of YAML that cannot be taken for anything but text, or null where the form takes no such text. */
export function plainWord(text: string): string | null {
  const word = text.trim();
  if (/^[A-Za-z0-9][A-Za-z0-9_.\-/]{0,120}$/.test(word))
    return /^(true|false|yes|no|on|off|null|~|[\d.eE+-]+)$/i.test(word) ? `"${word}"` : word;
  return /^[A-Za-z0-9][A-Za-z0-9_.\-/ :+]{0,120}$/.test(word) ? `"${word}"` : null;
}
