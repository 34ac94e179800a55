/**
 * Where the user types. The draft belongs to the session and is kept with every letter. With a mouse
 * Enter sends; to a finger it is a new line, and Send is a button.
 */
import { type KeyboardEvent, type Ref, useImperativeHandle, useRef, useState } from "react";
import { draftOf, keepDraft } from "@/model/remembered";
import { shelf } from "@/store/shelf";
import { Icon } from "@/ui/Icon";

export interface ComposerHandle {
  focus(): void;
  fill(text: string): void;
}

interface Props {
  session: string;
  running: boolean;
  stopping: boolean;
  canStop: boolean;
  stopped: boolean; // a banner is shown: typing redirects
  offline: boolean;
  onSend(text: string): void;
  onStop(): void;
  ref?: Ref<ComposerHandle>;
}

export function Composer({ session, running, stopping, canStop, stopped, offline, onSend, onStop, ref }: Props) {
  const [text, setText] = useState(() => draftOf(shelf, session));
  const area = useRef<HTMLTextAreaElement>(null);
  const change = (next: string) => {
    setText(next);
    keepDraft(shelf, session, next);
  };
  useImperativeHandle(ref, () => ({
    focus: () => area.current?.focus(),
    fill: (next) => {
      change(next);
      area.current?.focus();
    },
  }));
  const send = () => {
    if (!text.trim()) return;
    onSend(text);
    change("");
  };
  const key = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.nativeEvent.isComposing || event.shiftKey) return;
    if (matchMedia("(pointer: coarse)").matches && !event.metaKey && !event.ctrlKey) return;
    event.preventDefault();
    send();
  };
  const placeholder = offline ? "Offline: sent later…" : running ? "Queue a message…" : stopped ? "Or tell it what to do instead…" : "Message the agent…";
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      className="flex items-end gap-1.5 rounded-2xl border border-line-2 bg-raised p-1.5 shadow-soft transition-colors focus-within:border-accent/70"
      data-testid="composer"
    >
      <textarea
        ref={area}
        rows={1}
        value={text}
        onChange={(event) => change(event.target.value)}
        onKeyDown={key}
        placeholder={placeholder}
        aria-label="Message the agent"
        data-testid="composer-input"
        className="field-sizing-content max-h-52 min-h-9 min-w-0 flex-1 resize-none bg-transparent px-2.5 py-1.5 text-[0.9375rem] leading-6 outline-none placeholder:text-ink-3 touch:min-h-11 touch:py-2.5 touch:text-base"
      />
      {running && (
        <Round label={stopping ? "Stopping" : "Stop"} icon="stop" look="bg-chosen text-ink hover:bg-line-2" disabled={!canStop || stopping} onClick={onStop} testid="stop-button" />
      )}
      {(!running || text.trim() !== "") && (
        <Round label={running ? "Queue" : "Send"} icon="send" look="bg-purple-600 text-white hover:bg-purple-500" disabled={!text.trim()} testid="send-button" />
      )}
    </form>
  );
}

interface RoundProps {
  label: string;
  icon: "stop" | "send";
  look: string;
  disabled: boolean;
  onClick?(): void;
  testid: string;
}

function Round({ label, icon, look, disabled, onClick, testid }: RoundProps) {
  return (
    <button
      type={onClick ? "button" : "submit"}
      aria-label={label}
      title={label}
      disabled={disabled}
      onClick={onClick}
      data-testid={testid}
      className={`inline-flex size-9 shrink-0 items-center justify-center rounded-xl transition-colors disabled:cursor-default disabled:bg-chosen disabled:text-ink-3 touch:size-11 ${look}`}
    >
      <Icon name={icon} size={17} />
    </button>
  );
}
