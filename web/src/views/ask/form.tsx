// A form beside the YAML: model preset, GPU type and steps. The text is the only copy: each field reads
// it and writes it, so that both always say the same.
import { useAnswer } from '../../live/live';
import type { Presets, Waits } from '../../api/contract';
import { plainWord, readValue, writeValue } from './yaml_edit';
import type { Found, Place } from './yaml_edit';

const kRestSeconds = 600;
const kPreset: Place = ['model', 'preset'];
const kGpus: Place = ['resources', 'gpus'];
const kSteps: Place = ['training', 'max_steps'];
const kMostGpus: Place = ['resources', 'max_gpus'];
const kDeadline: Place = ['deadline'];

interface FormProps {
  text: string;
  edit: (text: string) => void;
}

export function Form({ text, edit }: FormProps) {
  const presets = useAnswer<Presets>('v1/presets', kRestSeconds).data?.presets ?? [];
  const gpus = useAnswer<Waits>('v1/waits', kRestSeconds).data?.gpus ?? [];
  // Null is no word of the file's: nothing changes, and the field shows the text again.
  const write = (place: Place, event: Event, value: string | null) => {
    if (value !== null) edit(writeValue(text, place, value));
    const field = event.target as HTMLInputElement;
    const now = readValue(value === null ? text : writeValue(text, place, value), place);
    if (field instanceof HTMLInputElement) field.value = shownOf(now);
  };
  const gpu = readValue(text, kGpus);
  const known = gpu.kind !== 'value' || gpus.some((one) => one.gpu === gpu.value);
  return (
    <fieldset class="ask-form">
      <legend>The training</legend>
      <Field label="Model preset" found={readValue(text, kPreset)}>
        {(value, odd) => (
          <>
            <input
              name="preset"
              list="presets"
              value={value}
              disabled={odd}
              placeholder="none"
              maxLength={120}
              autocomplete="off"
              onChange={(event) => write(kPreset, event, wordOf(event))}
            />
            <datalist id="presets">
              {presets.map((one) => (
                <option key={one} value={one} />
              ))}
            </datalist>
          </>
        )}
      </Field>
      <Field label="GPU type" found={gpu}>
        {(value, odd) => (
          <select name="form-gpu" value={value} disabled={odd} onChange={(event) => write(kGpus, event, wordOf(event))}>
            <option value="">any</option>
            {known ? null : <option value={value}>{value.slice(0, 40)}</option>}
            {gpus.map((one) => (
              <option key={one.gpu} value={one.gpu}>
                {one.gpu_name.slice(0, 40)}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label="Steps" found={readValue(text, kSteps)}>
        {(value, odd) => <Digits name="steps" value={value} odd={odd} write={(event) => write(kSteps, event, digitsOf(event))} />}
      </Field>
      <Field label="GPUs, at most" found={readValue(text, kMostGpus)}>
        {(value, odd) => <Digits name="most-gpus" value={value} odd={odd} write={(event) => write(kMostGpus, event, digitsOf(event))} />}
      </Field>
      <Field label="Deadline" found={readValue(text, kDeadline)}>
        {(value, odd) => (
          <input
            name="deadline"
            value={value}
            disabled={odd}
            placeholder="fri 18:00"
            maxLength={40}
            autocomplete="off"
            onChange={(event) => write(kDeadline, event, wordOf(event))}
          />
        )}
      </Field>
    </fieldset>
  );
}

interface DigitsProps {
  name: string;
  value: string;
  odd: boolean;
  write: (event: Event) => void;
}

const Digits = ({ name, value, odd, write }: DigitsProps) => (
  <input name={name} inputMode="numeric" pattern="[0-9]*" value={value} disabled={odd} maxLength={12} autocomplete="off" onChange={write} />
);

const shownOf = (found: Found): string => (found.kind === 'value' ? found.value : '');

function wordOf(event: Event): string | null {
  const { value } = event.target as HTMLInputElement;
  return value.trim() === '' ? '' : plainWord(value);
}

function digitsOf(event: Event): string | null {
  const value = (event.target as HTMLInputElement).value.trim();
  return /^([1-9][0-9]{0,11})?$/.test(value) ? value : null;
}

interface FieldProps {
  label: string;
  found: Found;
  children: (value: string, odd: boolean) => preact.ComponentChildren;
}

function Field({ label, found, children }: FieldProps) {
  const odd = found.kind === 'other';
  return (
    <label class="field">
      <span>{label}</span>
      {children(shownOf(found), odd)}
      {odd ? <small>only in the text</small> : null}
    </label>
  );
}
