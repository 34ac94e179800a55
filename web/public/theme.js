// Light or dark, before the first paint: what was chosen here, else what the system says.
(function () {
  var system = matchMedia("(prefers-color-scheme: dark)");
  function paint() {
    var chosen = null;
    try {
      chosen = localStorage.getItem("holdfast:theme");
    } catch (_) {}
    var dark = chosen === "dark" || (chosen !== "light" && system.matches);
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    document.querySelector('meta[name="theme-color"]').content = dark ? "#0e0f13" : "#ffffff";
  }
  system.addEventListener("change", paint);
  addEventListener("storage", paint);
  addEventListener("holdfast:theme", paint);
  paint();
})();
