// Theme, dialogs and keyboard shortcuts. Pages also work without this script.
"use strict";

const root = document.documentElement;
const wanted = localStorage.getItem("theme");
if (wanted) root.dataset.theme = wanted;

function isDark() {
  return root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
}

function switchTheme() {
  root.dataset.theme = isDark() ? "light" : "dark";
  localStorage.setItem("theme", root.dataset.theme);
}

function focusWanted(within) {
  within.querySelector("[data-focus]")?.focus();
}

document.addEventListener("DOMContentLoaded", () => {
  document.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  focusWanted(document);
});

// Show a dialog that htmx has inserted into the page as a modal. On a separate page it is not modal.
function openDialog() {
  const dialog = document.querySelector("#dialogs dialog");
  if (!dialog || dialog.matches(":modal")) return;
  dialog.removeAttribute("open");
  dialog.showModal();
  focusWanted(dialog);
}

document.addEventListener("htmx:afterSettle", openDialog);

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-theme-switch]")) switchTheme();
  const close = event.target.closest("#dialogs [data-close]");
  if (close) {
    event.preventDefault();
    close.closest("dialog").close();
  }
});

function isTyping(element) {
  return element.matches("input, textarea, select, [contenteditable]");
}

const KEYS = {
  "/": () => document.querySelector("[data-search]")?.focus(),
  g: () => document.querySelector("[data-key=catalogs]")?.click(),
  f: () => document.querySelector("[data-key=fork]")?.click(),
  s: () => document.querySelector("[data-key=sql]")?.click(),
  t: switchTheme,
};

document.addEventListener("keydown", (event) => {
  const box = event.target.closest("textarea[data-run]");
  if (box && event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    box.form.requestSubmit(box.form.querySelector("[data-default]"));
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  const action = KEYS[event.key];
  if (action) {
    event.preventDefault();
    action();
  }
});
