// A Vite plugin: `virtual:languages` has a loader for each ../po/LANGUAGE.po, whose texts of the
// context "page" become a file of their own, {English sentence: translation}.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { po } from 'gettext-parser';

const kAll = 'virtual:languages';
const kOne = 'virtual:language/';
const kInternal = '\0'; // Rollup's mark of a module that is no file

// In the source tree, or in a copy of web/ that has them inside.
const folder = ['./po', '../po'].map((path) => fileURLToPath(new URL(path, import.meta.url))).find((path) => existsSync(path));

const fields = (text) => (text.match(/\{\w+\}/g) ?? []).sort().join(' ');

/** The page's sentences in `text`, the contents of the file `name`. Throws where one has other fields than its original. */
export function sentencesOf(text, name) {
  const entries = Object.values(po.parse(text).translations.page ?? {});
  return Object.fromEntries(
    entries.map(({ msgid, msgstr: [translation] }) => {
      if (!translation) throw new Error(`${name}: "${msgid}" has no translation`);
      if (fields(msgid) !== fields(translation)) throw new Error(`${name}: "${translation}" does not have the fields of "${msgid}"`);
      return [msgid, translation];
    }),
  );
}

export function languages() {
  const files = folder ? readdirSync(folder).filter((file) => file.endsWith('.po')) : [];
  const known = files.map((file) => file.slice(0, -'.po'.length));
  return {
    name: 'languages',
    resolveId: (id) => (id === kAll || id.startsWith(kOne) ? kInternal + id : undefined),
    load(id) {
      if (id === kInternal + kAll) return `export const languages = {${known.map((one) => `${one}: () => import('${kOne}${one}')`).join(', ')}};`;
      if (!id.startsWith(kInternal + kOne)) return undefined;
      const path = `${folder}/${id.slice((kInternal + kOne).length)}.po`;
      this.addWatchFile(path);
      return `export default ${JSON.stringify(sentencesOf(readFileSync(path), path))};`;
    },
  };
}
