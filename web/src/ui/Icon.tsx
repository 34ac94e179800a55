/** Line icons on a 24 grid, drawn in the colour of the text. Not emoji: those differ on every machine. */
const PATHS = {
  activity: "M3 12h4l3-8 4 16 3-8h4",
  archive: "M3 5h18v4H3zM5 9v10h14V9M10 13h4",
  arrowDown: "M12 5v14M6 13l6 6 6-6",
  arrowUp: "M12 19V5M6 11l6-6 6 6",
  back: "M15 5l-7 7 7 7",
  bell: "M6 17V11a6 6 0 0 1 12 0v6l1.5 2h-15zM10 21h4",
  bolt: "M13 3 5 14h6l-1 7 8-11h-6z",
  branch: "M6 4v12M6 20a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM18 8a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM18 8c0 5-6 4-11 7",
  brain: "M9 4a3 3 0 0 0-3 3 3 3 0 0 0-2 5 3 3 0 0 0 2 5 3 3 0 0 0 6 1V6a2.5 2.5 0 0 0-3-2zM15 4a3 3 0 0 1 3 3 3 3 0 0 1 2 5 3 3 0 0 1-2 5 3 3 0 0 1-6 1",
  chart: "M4 20V4M4 20h16M8 16v-4M12 16V8M16 16v-6",
  check: "M5 12.5l4.5 4.5L19 7",
  chevron: "M9 6l6 6-6 6",
  circle: "M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16z",
  clock: "M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16zM12 8v4l3 2",
  close: "M6 6l12 12M18 6 6 18",
  contrast: "M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16zM12 4v16M12 8l5.5-1.5M12 12h8M12 16l5.5 1.5",
  copy: "M9 9h10v11H9zM5 15V4h10",
  diff: "M5 3h14v18H5zM12 7v6M9 10h6M9 16.5h6",
  dots: "M6 12h.01M12 12h.01M18 12h.01",
  down: "M6 9l6 6 6-6",
  edit: "M4 20h4L19 9l-4-4L4 16zM13 7l4 4",
  file: "M6 3h8l4 4v14H6zM14 3v4h4",
  filter: "M4 7h16M7 12h10M10 17h4",
  folder: "M3 6h6l2 2h10v11H3z",
  fork: "M7 4v5a3 3 0 0 0 3 3h4a3 3 0 0 0 3-3V4M12 12v8",
  globe: "M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16zM4 12h16M12 4c3 3 3 13 0 16M12 4c-3 3-3 13 0 16",
  hourglass: "M7 4h10M7 20h10M8 4c0 5 8 5 8 8s-8 3-8 8M16 4c0 5-8 5-8 8s8 3 8 8",
  info: "M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16zM12 11v5M12 8h.01",
  keyboard: "M3 7h18v10H3zM7 11h.01M11 11h.01M15 11h.01M8 14h8",
  list: "M9 6h11M9 12h11M9 18h11M4 6h.01M4 12h.01M4 18h.01",
  moon: "M20 14A8 8 0 1 1 10 4a6.5 6.5 0 0 0 10 10z",
  pause: "M9 6v12M15 6v12",
  pin: "M9 4h6l-1 7 3 3H7l3-3zM12 14v6",
  play: "M8 5l11 7-11 7z",
  plus: "M12 5v14M5 12h14",
  question: "M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16zM9.8 9.5a2.3 2.3 0 1 1 3.2 2.2c-.7.3-1 .8-1 1.6M12 16h.01",
  rewind: "M4 5v5h5M4.5 10A8 8 0 1 1 4 14",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM16 16l4 4",
  send: "M12 19V5M6 11l6-6 6 6",
  spark: "M12 4l1.8 5.2L19 11l-5.2 1.8L12 18l-1.8-5.2L5 11l5.2-1.8z",
  stop: "M7 7h10v10H7z",
  sun: "M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 3v2M12 19v2M3 12h2M19 12h2M5.6 5.6 7 7M17 17l1.4 1.4M18.4 5.6 17 7M7 17l-1.4 1.4",
  terminal: "M5 7l5 5-5 5M12 18h7",
  trash: "M5 7h14M9 7V4h6v3M7 7l1 13h8l1-13",
  warning: "M12 4 2.8 20h18.4zM12 10v4M12 17h.01",
  wifiOff: "M4 4l16 16M5 12a10 10 0 0 1 4-2.5M8.5 15.5a5 5 0 0 1 7 0M19 12a10 10 0 0 0-5-2.7M12 19h.01",
  wrench: "M14.5 5.5a4.5 4.5 0 0 0-5.6 5.7L4 16l4 4 4.8-4.9a4.5 4.5 0 0 0 5.7-5.6l-2.7 2.7-3-1-1-3z",
} as const;

export type IconName = keyof typeof PATHS;

export const isIcon = (name: string): name is IconName => name in PATHS;

interface Props {
  name: IconName;
  size?: number;
  className?: string;
}

export function Icon({ name, size = 16, className = "" }: Props) {
  const filled = name === "stop" || name === "play";
  return (
    <svg
      viewBox="0 0 24 24"
      width={size}
      height={size}
      fill={filled ? "currentColor" : "none"}
      stroke="currentColor"
      strokeWidth={name === "dots" ? 3 : size <= 14 ? 2 : 1.75}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      className={`shrink-0 ${className}`}
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
