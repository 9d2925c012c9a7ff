"use strict";
(() => {
  const body = document.body, up = body.dataset.up;
  const by = (id) => document.getElementById(id);

  // Colours: those of the system until a reader chooses.
  by("theme").onclick = () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    localStorage.setItem("theme", root.dataset.theme);
  };
  by("menu").onclick = () => by("menu").setAttribute("aria-expanded", String(by("nav").classList.toggle("open")));

  // The same page of another version, or its first page.
  const select = by("version");
  for (const name of window.plimsollVersions || []) {
    if (name !== body.dataset.version) select.add(new Option(name));
  }
  select.onchange = () => {
    const there = up + "../" + select.value + "/";
    if (location.protocol === "file:") { location.href = there + "index.html"; return; }
    fetch(there + body.dataset.path, { method: "HEAD" }).then((r) => { location.href = there + (r.ok ? body.dataset.path : "index.html"); });
  };

  // The index is loaded when somebody searches.
  const found = by("found"), box = by("search");
  let wanted = null;
  const index = () => wanted ||= new Promise((done) => {
    const s = document.createElement("script");
    s.src = up + "search.js";
    s.onload = () => done(window.plimsollIndex);
    document.head.append(s);
  });
  const score = (part, words) => {
    let sum = 0;
    for (const w of words) {
      const title = part.t.toLowerCase().includes(w), head = part.h.toLowerCase().includes(w), text = part.x.toLowerCase().includes(w);
      if (!title && !head && !text) return 0;
      sum += (head ? 10 : 0) + (title ? 5 : 0) + (text ? 1 : 0);
    }
    return sum;
  };
  box.oninput = async () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    const parts = words.length ? await index() : [];
    const best = parts.map((p) => [score(p, words), p]).filter((x) => x[0] > 0).sort((a, b) => b[0] - a[0]).slice(0, 20);
    found.replaceChildren(...best.map(([, p]) => {
      const li = document.createElement("li"), a = document.createElement("a"), small = document.createElement("small");
      a.href = up + p.p + (p.i ? "#" + p.i : "");
      a.textContent = p.h && p.h !== p.t ? p.t + " › " + p.h : p.t;
      const at = Math.max(0, p.x.toLowerCase().indexOf(words[0]) - 40);
      small.textContent = p.x.slice(at, at + 140);
      a.append(small);
      li.append(a);
      return li;
    }));
    found.hidden = words.length === 0;
    if (words.length && !best.length) found.textContent = "Nothing found.";
  };
  box.onkeydown = (e) => { if (e.key === "Enter") found.querySelector("a")?.click(); };
  document.onkeydown = (e) => {
    if (e.key === "Escape") { found.hidden = true; box.blur(); }
    if (e.key === "/" && !/INPUT|SELECT|TEXTAREA/.test(document.activeElement.tagName)) { e.preventDefault(); box.focus(); }
  };
})();
