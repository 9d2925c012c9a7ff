// The words of the pages. English is written where it is used; zh.json has the same in Chinese, by the English words. {0}, {1} …
// are values.

let table: Record<string, string> = {};
let patterns: [RegExp, string][] = [];

// The language of the page: that of the address, the one chosen last, or that of the browser.
export const language: "en" | "zh" = chosen();

function chosen(): "en" | "zh" {
  let kept: string | null = null;
  try { kept = localStorage.getItem("plimsoll-language"); } catch { /* storage may be forbidden */ }
  return (new URLSearchParams(location.search).get("lang") ?? kept ?? navigator.language).toLowerCase().startsWith("zh") ? "zh" : "en";
}

// load gets the words of the language and says what is on the page in them.
export async function load(): Promise<void> {
  const button = document.querySelector<HTMLElement>("#language");
  button?.addEventListener("click", () => {
    const next = language === "zh" ? "en" : "zh";
    try { localStorage.setItem("plimsoll-language", next); } catch { /* the address has it */ }
    const at = new URL(location.href);
    at.searchParams.set("lang", next);
    location.assign(at);
  });
  if (language === "en") return;
  try {
    const got = await fetch("zh.json");
    use((await got.json()) as Record<string, string>);
  } catch { return; } // English can be read
  document.documentElement.lang = "zh";
  if (button) { button.textContent = "English"; button.lang = "en"; }
  translate(document.body);
}

// use takes a table of words.
function use(all: Record<string, string>): void {
  table = all;
  patterns = Object.keys(all).filter((k) => /\{\d\}/.test(k)).sort((a, b) => b.length - a.length).map((k) => [
    new RegExp("^" + k.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{(\d)\}/g, (_, i: string) => `(?<v${i}>${value(k)})`) + "$"), all[k]!,
  ]);
}

// value is what a value of a pattern may be: within a sentence, and one word where the pattern itself says little.
function value(pattern: string): string {
  const letters = pattern.replace(/\{\d\}|[^a-z]/gi, "").length;
  return letters < 3 || (letters < 6 && pattern.startsWith("{")) ? "\\S+?" : "(?:(?!\\. [A-Z]).)+?";
}

// say is a text of the page in its language.
export function say(text: string, ...values: (string | number)[]): string {
  return (table[text] ?? text).replace(/\{(\d)\}/g, (_, i: string) => String(values[Number(i)] ?? ""));
}

// said is a text that is already English, with its values in it. What has no translation stays.
export function said(text: string): string {
  const plain = text.replace(/\s+/g, " ").trim();
  if (!plain || language === "en") return text;
  let out = phrase(plain);
  if (out === undefined) { // sentence by sentence
    const parts = plain.split(/(?<=\.) (?=[A-Z0-9])/), known = parts.map(phrase);
    if (known.some((k) => k !== undefined)) out = parts.map((p, i) => known[i] ?? p + " ").join("").trim();
  }
  return out === undefined ? text : text.replace(/^(\s*)[^]*?(\s*)$/, (_, a: string, b: string) => a + out + b);
}

// phrase is the translation of a text, or of one with values in it.
function phrase(plain: string): string | undefined {
  if (table[plain] !== undefined) return table[plain];
  for (const [pattern, words] of patterns) {
    const found = pattern.exec(plain)?.groups;
    if (found) return words.replace(/\{(\d)\}/g, (_, i: string) => { const v = found[`v${i}`] ?? ""; return v.length < 80 ? phrase(v) ?? v : v; });
  }
  return undefined;
}

const attributes = ["aria-label", "placeholder", "title", "data-tip"];

// translate says the words of a part of the page in its language.
export function translate(root: Element): void {
  if (language === "en") return;
  for (const e of [root, ...root.querySelectorAll("*")])
    for (const a of attributes) { const v = e.getAttribute(a); if (v) e.setAttribute(a, said(v)); }
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode;
    if (!node.parentElement?.closest("script, style, code, pre, textarea")) node.textContent = said(node.textContent ?? "");
  }
}
