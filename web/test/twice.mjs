// A test in a browser. On a busy machine one may miss a moment: one that fails is run once more, and says so.
import { test as once } from 'node:test';

export const test = (name, body) =>
  once(name, async (context) => {
    try {
      await body(context);
    } catch (error) {
      context.diagnostic(`needed a second run: ${name}: ${String(error?.message ?? error).slice(0, 300)}`);
      await body(context);
    }
  });
