/** Labelled inputs. 16 px to a finger, or the phone zooms in. */
import { type ReactNode, useId } from "react";

const BOX = "w-full rounded-lg border border-line-2 bg-page px-3 text-sm placeholder:text-ink-3 touch:text-base";

interface FieldProps {
  label: string;
  value: string;
  onChange(value: string): void;
  placeholder?: string;
  options?: readonly string[]; // offered, not enforced
  hint?: ReactNode;
  required?: boolean;
  inputMode?: "decimal";
  testid?: string;
}

export function Field({ label, value, onChange, placeholder, options, hint, required, inputMode, testid }: FieldProps) {
  const id = useId();
  return (
    <div className="min-w-0">
      <label htmlFor={id} className="mb-1 block text-xs font-medium text-ink-2">
        {label}
      </label>
      <input
        id={id}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        placeholder={placeholder}
        required={required}
        inputMode={inputMode}
        list={options ? `${id}-list` : undefined}
        data-testid={testid}
        autoComplete="off"
        spellCheck={false}
        className={`h-9 touch:h-11 ${BOX}`}
      />
      {options && (
        <datalist id={`${id}-list`}>
          {options.map((option) => (
            <option key={option} value={option} />
          ))}
        </datalist>
      )}
      {hint && <p className="mt-1 text-2xs text-ink-3">{hint}</p>}
    </div>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  options: readonly { value: string; text: string; disabled?: boolean }[];
  onChange(value: string): void;
  testid?: string;
}

export function Choose({ label, value, options, onChange, testid }: ChoiceProps) {
  const id = useId();
  return (
    <div className="min-w-0">
      <label htmlFor={id} className="mb-1 block text-xs font-medium text-ink-2">
        {label}
      </label>
      <select id={id} value={value} onChange={(event) => onChange(event.target.value)} data-testid={testid} className={`h-9 touch:h-11 ${BOX}`}>
        {options.map((option) => (
          <option key={option.value} value={option.value} disabled={option.disabled}>
            {option.text}
          </option>
        ))}
      </select>
    </div>
  );
}

export function Check({ label, checked, onChange }: { label: string; checked: boolean; onChange(checked: boolean): void }) {
  return (
    <label className="flex items-center gap-2.5 text-sm text-ink-2 touch:min-h-11">
      <input type="checkbox" checked={checked} onChange={(event) => onChange(event.target.checked)} className="size-4 accent-purple-600" />
      {label}
    </label>
  );
}
