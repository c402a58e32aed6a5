// A bar of parts of a whole; the text beside it says the same, so it is hidden from screen readers.

export interface Part {
  name: string;
  value: number;
  kind: string; // colour and pattern: fill-KIND in style/parts.css
}

export function ShareBar({ parts, total, tall }: { parts: Part[]; total: number; tall?: boolean }) {
  return (
    <div class={tall ? 'share share-tall' : 'share'} aria-hidden="true">
      {parts
        .filter((part) => part.value > 0)
        .map((part) => (
          <span
            key={part.name}
            class={`fill-${part.kind}`}
            title={`${part.name}: ${part.value}`}
            style={{ width: `${(100 * part.value) / Math.max(total, 1)}%` }}
          />
        ))}
    </div>
  );
}
