// The page opens without the network; what it shows still comes from the daemon.
// Rule: nothing under /api or /login is ever kept or answered here. Built files have their hash in
// their name, so they are kept for good; the page itself is asked for first and kept for bad times.
const SHELL = "holdfast-shell-1";
const FILES = 24;

self.addEventListener("install", () => self.skipWaiting());

self.addEventListener("activate", (event) => {
  const others = caches.keys().then((names) => names.filter((name) => name !== SHELL));
  const gone = others.then((names) => Promise.all(names.map((name) => caches.delete(name))));
  event.waitUntil(gone.then(() => self.clients.claim()));
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin) return;
  if (pathname.startsWith("/assets/")) event.respondWith(kept(request));
  else if (request.mode === "navigate" && isPage(pathname)) event.respondWith(fresh(request));
});

const isPage = (path) => path === "/" || path === "/stats" || path.startsWith("/s/");

async function kept(request) {
  const cache = await caches.open(SHELL);
  const found = await cache.match(request);
  if (found) return found;
  const answer = await fetch(request);
  if (answer.ok) {
    await cache.put(request, answer.clone());
    const files = (await cache.keys()).filter((each) => each.url.includes("/assets/"));
    await Promise.all(files.slice(0, -FILES).map((each) => cache.delete(each))); // of earlier versions
  }
  return answer;
}

async function fresh(request) {
  const cache = await caches.open(SHELL);
  try {
    const answer = await fetch(request);
    if (answer.ok && !answer.redirected) cache.put("/", answer.clone());
    return answer;
  } catch (error) {
    const found = await cache.match("/");
    if (found) return found;
    throw error;
  }
}
