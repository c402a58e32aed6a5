// For a screen on a wall: wall=1 leaves out what is to be pressed and makes the rest larger; rotate=30 shows one view after
// another, the first screens of each for so many seconds, until a key is pressed.
import { useEffect, useLayoutEffect } from 'preact/hooks';
import { hashOf, numberParam } from './route';
import type { Route, View } from './route';

const kTurns: View[] = ['now', 'nodes', 'queue'];
const kLeastSeconds = 5;
const kMostScreens = 3; // of a view
const kScreen = 0.9; // of the height: the head stays, and a line or two

export const onWall = ({ params }: Route): boolean => params.get('wall') === '1';

export function useWall(route: Route): void {
  const { view, params } = route;
  const wall = onWall(route);
  const seconds = wall ? numberParam(params, 'rotate', 0) : 0;
  useLayoutEffect(() => {
    document.documentElement.classList.toggle('wall', wall);
  }, [wall]);
  useEffect(() => {
    if (seconds < kLeastSeconds) return undefined;
    const next = kTurns[(kTurns.indexOf(view) + 1) % kTurns.length] ?? 'now';
    let screens = 1;
    const turn = setInterval(() => {
      const below = document.documentElement.scrollHeight - window.innerHeight - window.scrollY;
      if (below > 1 && screens < kMostScreens) {
        // Even steps: the last screen does not repeat the one before.
        const left = Math.min(kMostScreens - screens++, Math.ceil(below / (kScreen * window.innerHeight)));
        window.scrollBy(0, Math.min(below / left, kScreen * window.innerHeight));
      } else {
        window.location.replace(hashOf(next));
      }
    }, seconds * 1000);
    const stop = () => window.location.replace(hashOf(view, { rotate: null }));
    window.addEventListener('keydown', stop);
    return () => {
      clearInterval(turn);
      window.removeEventListener('keydown', stop);
    };
  }, [seconds, view]);
}
