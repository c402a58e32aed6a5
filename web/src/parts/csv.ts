// A table as a file for spreadsheets. Text that a spreadsheet would take for a formula (= + - @, and
// what some take for them) is put behind an apostrophe: job and account names are anybody's words.

export type CsvValue = string | number | null | undefined;

const kFormula = /^[\s\u0000-\u001f]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20|%]/;

/** One cell: numbers as they are, text in quotes on one line. */
export function csvCell(value: CsvValue): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : '';
  const line = value.replace(/[\u0000-\u001f\u007f\u2028\u2029]+/g, ' ');
  const safe = kFormula.test(value) || kFormula.test(line) ? `'${line}` : line;
  return `"${safe.replaceAll('"', '""')}"`;
}

/** Lines as RFC 4180 has them. */
export function csvOf(heads: string[], rows: CsvValue[][]): string {
  return [heads, ...rows].map((row) => row.map(csvCell).join(',')).join('\r\n') + '\r\n';
}

const kByteOrderMark = '\uFEFF'; // without it Excel reads UTF-8 as something else

/** Gives the reader a file; nothing is sent anywhere. */
export function saveFile(name: string, type: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name.replace(/[^A-Za-z0-9._-]+/g, '-').slice(0, 80);
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

export const saveCsv = (name: string, text: string): void => saveFile(`${name}.csv`, 'text/csv', kByteOrderMark + text);
