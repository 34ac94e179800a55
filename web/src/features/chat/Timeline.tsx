/**
 * The conversation, drawn only where it is looked at.
 *
 * It follows its end until the reader scrolls up, and again once the reader is back at the end. Only a
 * move upwards lets go, or a line that the reader opens: growing text and a smaller window are not the
 * reader's doing. An earlier page is put in front without moving what is read.
 */
import { type ReactElement, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { VList, type VListHandle } from "virtua";
import { Opened } from "@/features/chat/Fold";
import type { Row } from "@/features/chat/rows";
import { Icon } from "@/ui/Icon";
import { Working } from "@/ui/Working";

interface Props {
  rows: Row[];
  draw(row: Row, index: number): ReactElement;
  older: boolean;
  onTop(): void;
  asks: boolean;
}

const NEAR_END = 48;
const NEAR_TOP = 800;
const DRAWN = 30; // frames, until the list knows for certain how large a line has become

export function Timeline({ rows, draw, older, onTop, asks }: Props) {
  const list = useRef<VListHandle>(null);
  const box = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const reads = useRef(false); // a line that was opened, until the reader goes down to the end
  const held = useRef(0); // frames for which that line is kept in its place
  const offset = useRef(0);
  const [away, setAway] = useState(false);
  const opened = useMemo(() => ({ ids: new Set<string>(), toggled: (open: boolean, head: HTMLElement) => stay(open, head) }), []);
  const shift = useShift(rows);
  const count = useRef(0);
  count.current = rows.length;

  const toEnd = () => {
    if (follows.current && count.current > 0) list.current?.scrollToIndex(count.current - 1, { align: "end" });
  };
  useLayoutEffect(toEnd, [rows]);
  useEffect(() => {
    const resized = new ResizeObserver(toEnd);
    resized.observe(box.current!);
    return () => resized.disconnect();
  }, []);

  // A reader who waits at the very top makes no scroll event when a page has come: the next is asked for here.
  useEffect(() => {
    const frame = requestAnimationFrame(() => {
      if (!follows.current && (list.current?.scrollOffset ?? 1) < 1) onTop();
    });
    return () => cancelAnimationFrame(frame);
  }, [rows]);

  const scrolled = (now: number) => {
    const { scrollSize, viewportSize } = list.current!;
    const end = scrollSize - viewportSize - now <= NEAR_END;
    if (end && reads.current && now > offset.current) reads.current = false;
    if (end && !reads.current) follows.current = true;
    else if (now < offset.current - 4) follows.current = false;
    offset.current = now;
    setAway(!follows.current);
    if (now < NEAR_TOP && !follows.current) onTop();
  };
  /**
   * What was just opened is what is read: it stays where it is, however late it is drawn. (The list keeps
   * what comes after a line in its place when the line's head is not wholly in sight.)
   */
  const stay = (open: boolean, head: HTMLElement) => {
    follows.current = false;
    reads.current = open;
    const top = head.getBoundingClientRect().top;
    held.current = DRAWN;
    const hold = () => {
      const moved = head.isConnected ? head.getBoundingClientRect().top - top : 0;
      if (held.current > 0 && Math.abs(moved) > 1) list.current?.scrollBy(moved);
      if (held.current-- > 0) requestAnimationFrame(hold);
      else if (list.current) scrolled(list.current.scrollOffset);
    };
    requestAnimationFrame(hold);
  };
  const letGo = () => {
    held.current = 0;
  };
  const jump = () => {
    letGo();
    follows.current = true;
    reads.current = false;
    setAway(false);
    toEnd();
  };

  return (
    <div ref={box} role="log" aria-live="off" aria-label="Conversation" className="relative min-h-0 flex-1" data-testid="timeline" onWheel={letGo} onTouchMove={letGo} onKeyDown={letGo}>
      <Opened value={opened}>
        <VList ref={list} data={rows} shift={shift} bufferSize={400} onScroll={scrolled} tabIndex={0} style={{ height: "100%" }} className="overscroll-contain outline-offset-[-2px]">
          {draw}
        </VList>
      </Opened>
      {older && (
        <p className="absolute top-2 left-1/2 flex -translate-x-1/2 items-center gap-2 rounded-full bg-raised px-3 py-1 text-xs text-ink-3 shadow-float">
          <Working size={12} /> Earlier messages
        </p>
      )}
      {away && (
        <button
          type="button"
          onClick={jump}
          data-testid="jump"
          className="rising absolute bottom-3 left-1/2 flex h-8 -translate-x-1/2 items-center gap-1.5 rounded-full bg-raised px-3.5 text-xs font-medium text-ink-2 shadow-float hover:text-ink touch:h-11"
        >
          <Icon name={asks ? "question" : "arrowDown"} size={13} className={asks ? "text-warn" : ""} />
          {asks ? "A question waits" : "Latest"}
        </button>
      )}
    </div>
  );
}

/** Whether lines were put in front since the last time. */
function useShift(rows: Row[]): boolean {
  const first = useRef<string>(undefined);
  const shift = useRef(false);
  const seen = useRef<Row[]>(undefined);
  if (seen.current !== rows) {
    const was = first.current;
    first.current = rows[0]?.key;
    shift.current = was !== undefined && was !== first.current && rows.some((row) => row.key === was);
    seen.current = rows;
  }
  return shift.current;
}
