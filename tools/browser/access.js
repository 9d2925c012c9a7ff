(() => {
  const wrong = [];
  const seen = (e) => e.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && e.getBoundingClientRect().width > 1;
  const name = (e) => (e.id ? `#${e.id}` : `${e.tagName.toLowerCase()}.${e.className?.baseVal ?? e.className}`);
  // Every id once, every reference to one that exists.
  const ids = new Map();
  for (const e of document.querySelectorAll("[id]")) ids.set(e.id, (ids.get(e.id) ?? 0) + 1);
  for (const [id, n] of ids) if (n > 1) wrong.push(`${n} elements have the id ${id}`);
  for (const a of ["aria-labelledby", "aria-describedby", "for"])
    for (const e of document.querySelectorAll(`[${a}]`)) for (const id of e.getAttribute(a).split(/\s+/)) if (!ids.has(id)) wrong.push(`${name(e)}: ${a} names ${id}, which is not there`);
  // Controls, pictures, tables and regions have names.
  const named = (e) => e.getAttribute("aria-label") || e.getAttribute("aria-labelledby") || e.labels?.length || e.textContent.trim() || e.title;
  for (const e of document.querySelectorAll("button, input, select, textarea, summary, a[href], [role=region], [role=application], [role=img]")) if (seen(e) && !named(e)) wrong.push(`${name(e)} has no name`);
  for (const e of document.querySelectorAll("svg")) if (seen(e) && e.getAttribute("aria-hidden") !== "true" && !(e.getAttribute("role") && (e.getAttribute("aria-label") || e.querySelector("title")))) wrong.push(`picture ${name(e)} has no name and is not hidden`);
  for (const e of document.querySelectorAll("table")) if (seen(e) && !e.querySelector("th")) wrong.push(`table ${name(e)} has no headings`);
  for (const e of document.querySelectorAll("th")) if (!e.scope) wrong.push(`heading ${e.textContent.trim().slice(0, 30)} of a table has no scope`);
  // What scrolls can be scrolled by keys.
  for (const e of document.querySelectorAll("*")) {
    const s = getComputedStyle(e), scrolls = (e.scrollWidth > e.clientWidth + 14 && /auto|scroll/.test(s.overflowX)) || (e.scrollHeight > e.clientHeight + 14 && /auto|scroll/.test(s.overflowY));
    if (scrolls && seen(e) && e !== document.documentElement && e !== document.body && e.tabIndex < 0 && !e.querySelector("a[href], button, input, select, textarea, summary, [tabindex='0']")) wrong.push(`${name(e)} scrolls, but not by keys`);
  }
  // Headings go down one step at a time, and there is one main part, one h1 and a language.
  let level = 0;
  for (const h of document.querySelectorAll("h1, h2, h3, h4")) { const n = Number(h.tagName[1]); if (seen(h)) { if (level && n > level + 1) wrong.push(`heading ${h.textContent.trim()} jumps from ${level} to ${n}`); level = n; } }
  if (document.querySelectorAll("main").length !== 1) wrong.push("there is not one main part");
  if (!document.documentElement.lang) wrong.push("the page has no language");
  if (!document.title) wrong.push("the page has no title");
  // Text is 4.5 times as light or dark as what is behind it, large text 3 times.
  const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (c) => { probe.clearRect(0, 0, 1, 1); probe.fillStyle = c; probe.fillRect(0, 0, 1, 1); return [...probe.getImageData(0, 0, 1, 1).data].map((v, i) => (i === 3 ? v / 255 : v)); };
  const over = (top, under) => [0, 1, 2].map((i) => top[i] * top[3] + under[i] * (1 - top[3])).concat(1);
  const light = (c) => [0.2126, 0.7152, 0.0722].reduce((sum, w, i) => { const v = c[i] / 255; return sum + w * (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); }, 0);
  const behind = (e) => { const all = []; for (let x = e; x; x = x.parentElement) all.push(rgba(getComputedStyle(x).backgroundColor)); return all.reverse().reduce((under, top) => over(top, under), rgba("Canvas")); };
  const pale = new Set();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const e = texts.currentNode.parentElement;
    if (!texts.currentNode.textContent.trim() || !e || e.closest("script, style, svg, .over, option, .hidden, [aria-hidden=true]") || !seen(e)) continue;
    const s = getComputedStyle(e), back = behind(e);
    let opacity = 1;
    for (let x = e; x; x = x.parentElement) opacity *= Number(getComputedStyle(x).opacity);
    const ink = rgba(s.color);
    ink[3] *= opacity;
    const a = light(over(ink, back)), b = light(back), ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = parseFloat(s.fontSize), large = size >= 24 || (size >= 18.66 && Number(s.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5)) pale.add(`${name(e)}: contrast ${ratio.toFixed(2)}`);
  }
  return [...new Set(wrong), ...pale];
})()
