// Sentences of the daemon as a list.

export function Sentences({ of }: { of: string[] }) {
  return (
    <ul class="reason-list">
      {of.map((one) => (
        <li key={one}>
          <bdi>{one}</bdi>
        </li>
      ))}
    </ul>
  );
}
