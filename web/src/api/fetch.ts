// One question to the daemon. Addresses are relative, so that the page works under any path.
import type { Frame } from './contract';

/** The daemon's own sentence, or why it could not be reached; `status` 0 is "no answer". */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

const kTimeoutMilliseconds = 30_000;

const tags = new WeakMap<Frame, string>(); // ETags
const received = new WeakMap<AbortSignal, number>();

/** Bytes on the wire, about, of the answers to all questions that were asked with `signal`. */
export const bytesOf = (signal: AbortSignal): number => received.get(signal) ?? 0;

/**
 * The answer to GET `path`; `known`, with the time of the newest snapshot, where that still is the answer. Throws ApiError; an abort
 * by `signal` throws AbortError.
 */
export function getJson<T extends Frame>(path: string, signal: AbortSignal, known?: T): Promise<T> {
  const tag = known && tags.get(known);
  return ask<T>(path, tag ? { signal, headers: { 'If-None-Match': tag } } : { signal }, known);
}

/** The text at `path`, such as a file. Throws ApiError. */
export async function getFile(path: string): Promise<string> {
  const response = await fetch(path).catch(() => {
    throw new ApiError(0, 'unreachable', kUnreachable);
  });
  const text = await response.text();
  if (!response.ok) readAnswer(response, text);
  return text;
}

/** The answer to POST `body` at `path`. Throws as getJson. */
export function postJson<T extends Frame>(path: string, body: unknown, signal: AbortSignal): Promise<T> {
  const headers = { 'Content-Type': 'application/json' };
  return ask<T>(path, { method: 'POST', headers, body: JSON.stringify(body), signal });
}

async function ask<T extends Frame>(path: string, init: RequestInit & { signal: AbortSignal }, known?: T): Promise<T> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), kTimeoutMilliseconds);
  const forward = () => late.abort();
  init.signal.addEventListener('abort', forward);
  if (init.signal.aborted) late.abort();
  try {
    const response = await fetch(path, { ...init, signal: late.signal });
    const text = await response.text();
    received.set(init.signal, bytesOf(init.signal) + bytesOnWire(response, text));
    return tagged(response.status === 304 && known ? renewed(known, response) : readAnswer<T>(response, text), response);
  } catch (trouble) {
    if (init.signal.aborted || trouble instanceof ApiError) throw trouble;
    throw new ApiError(0, 'unreachable', late.signal.aborted ? kTooLate : kUnreachable);
  } finally {
    clearTimeout(timer);
    init.signal.removeEventListener('abort', forward);
  }
}

const kTooLate = 'The daemon did not answer within 30 seconds.';
const kUnreachable = 'The daemon does not answer: it may be restarting, or the connection to it is closed.';

const kHeaderBytes = 400;
const kShrinks = 8; // what a length is divided by that no header tells: answers are compressed

const bytesOnWire = (response: Response, text: string): number =>
  kHeaderBytes + (Number(response.headers.get('Content-Length')) || text.length / kShrinks);

function renewed<T extends Frame>(known: T, response: Response): T {
  const snapshot_taken_at = Number(response.headers.get('Gpuadvise-Snapshot')) || known.meta.snapshot_taken_at;
  return { ...known, meta: { ...known.meta, snapshot_taken_at } };
}

function tagged<T extends Frame>(answer: T, response: Response): T {
  const tag = response.headers.get('ETag');
  if (tag) tags.set(answer, tag);
  return answer;
}

function readAnswer<T extends Frame>(response: Response, text: string): T {
  const answer = parsed<T>(text);
  if (response.ok && answer) return answer;
  const error = answer?.errors?.[0];
  if (error) throw new ApiError(response.status, error.code, error.message);
  throw new ApiError(response.status, 'unreadable', `The answer could not be read (HTTP ${response.status}).`);
}

function parsed<T>(text: string): T | null {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === 'object' ? (value as T) : null;
  } catch {
    return null;
  }
}
