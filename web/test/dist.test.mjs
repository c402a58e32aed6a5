// What is built: light, whole, without anything inline or from elsewhere; a lock file without hosts.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const files = () =>
  readdirSync(dist, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));

test('What is loaded first is under 45 KB compressed, the whole page under 150', () => {
  const bytes = files().reduce((sum, file) => sum + gzipSync(readFileSync(file)).length, 0);
  console.log(`# ${files().length} files, ${bytes} bytes compressed`);
  assert.ok(bytes < 150_000, `${bytes} bytes`);
  const html = readFileSync(join(dist, 'index.html'), 'utf8');
  const first = [...html.matchAll(/(?:src|href)="\.\/(assets[^"]*)"/g)].reduce(
    (sum, [, file]) => sum + gzipSync(readFileSync(join(dist, file))).length,
    0,
  );
  console.log(`# ${first} bytes of them first`);
  assert.ok(first < 45_000, `${first} bytes`);
});

test('The page has no inline script or style and only relative addresses', () => {
  const html = readFileSync(join(dist, 'index.html'), 'utf8');
  assert.doesNotMatch(html, /<style|style=|onload=|<script(?![^>]*\bsrc=)/);
  for (const [, address] of html.matchAll(/(?:src|href)="([^"]*)"/g)) assert.match(address, /^\.\/assets\//);
});

test('Nothing that is built names another host', () => {
  for (const file of files()) {
    const text = readFileSync(file, 'utf8').replaceAll('http://www.w3.org/', '');
    assert.doesNotMatch(text, /(?:https?:)?\/\/[a-z0-9-]+\.[a-z]{2,}\//i, file);
  }
});

test('The lock file names no host of a registry', () => {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  for (const [name, entry] of Object.entries(lock.packages)) assert.equal(entry.resolved, undefined, name);
});
