// Filters of a view: each change goes into the address, and back to the first page.
import { useEffect, useRef, useState } from 'preact/hooks';
import { grouped } from '../words/numbers';
import { setSearchBox } from './keys';
import { setParams } from './route';

export interface Option {
  value: string;
  label: string;
}

interface SelectProps {
  label: string;
  name: string;
  value: string;
  options: Option[];
  all?: string; // the word for "no filter"
}

export function Select({ label, name, value, options, all }: SelectProps) {
  const known = value === '' || options.some((option) => option.value === value);
  const change = (event: Event) => setParams({ [name]: (event.target as HTMLSelectElement).value, offset: null, node: null });
  return (
    <label class="field">
      <span>{label}</span>
      <select name={name} value={value} onChange={change}>
        {all !== undefined ? <option value="">{all}</option> : null}
        {known ? null : <option value={value}>{clip(value)}</option>}
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {clip(option.label)}
          </option>
        ))}
      </select>
      <span class="on-paper">{options.find((option) => option.value === value)?.label ?? (value || all)}</span>
    </label>
  );
}

const clip = (text: string) => (text.length > 40 ? `${text.slice(0, 39)}…` : text);

const kPauseMilliseconds = 250;

/** Asks once the typing pauses. Keeps the focus: the field owns its text. */
export function SearchBox({ label, value, hint }: { label: string; value: string; hint: string }) {
  const [text, setText] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>();
  const said = useRef(value);
  const begun = useRef(false); // the address has an entry for what is being typed
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    setSearchBox(field.current);
    return () => setSearchBox(null);
  }, []);
  useEffect(() => {
    if (value !== said.current) setText(value);
    said.current = value;
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const say = (next: string) => {
    said.current = next;
    setParams({ search: next, offset: null, node: null }, { replace: begun.current });
    begun.current = true;
  };
  const input = (event: Event) => {
    const next = (event.target as HTMLInputElement).value;
    setText(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => say(next.trim()), kPauseMilliseconds);
  };
  return (
    <label class="field field-search">
      <span>{label}</span>
      <input
        ref={field}
        type="search"
        name="search"
        value={text}
        placeholder={hint}
        maxLength={200}
        autocomplete="off"
        onInput={input}
        onBlur={() => (begun.current = false)}
      />
    </label>
  );
}

interface PagerProps {
  offset: number;
  shown: number;
  total: number;
  size: number;
  noun: string;
}

/** An address past the end, as when jobs have gone since, leads to the last page. */
export function Pager({ offset, shown, total, size, noun }: PagerProps) {
  const last = offset + shown;
  const lastPage = Math.floor(Math.max(0, total - 1) / size) * size;
  const past = shown === 0 && total > 0 && offset > lastPage;
  useEffect(() => {
    if (past) setParams({ offset: lastPage > 0 ? lastPage : null, node: null }, { replace: true });
  }, [past, lastPage]);
  const words = total === 0 ? `no ${noun}` : `${grouped(offset + 1)}–${grouped(last)} of ${grouped(total)} ${noun}`;
  const go = (to: number) => () => setParams({ offset: to > 0 ? to : null, node: null });
  return (
    <nav class="pager" aria-label={`Pages of ${noun}`}>
      <span class="pager-words">{words}</span>
      {total > size ? (
        <>
          <button type="button" disabled={offset === 0} onClick={go(0)}>
            First
          </button>
          <button type="button" disabled={offset === 0} onClick={go(Math.max(0, offset - size))}>
            Previous
          </button>
          <button type="button" disabled={last >= total} onClick={go(offset + size)}>
            Next
          </button>
          <button type="button" disabled={last >= total} onClick={go(lastPage)}>
            Last
          </button>
        </>
      ) : null}
    </nav>
  );
}
