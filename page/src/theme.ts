// Light or dark: as the system says, unless the viewer chose.

import { signal } from "@preact/signals";

export type Theme = "auto" | "light" | "dark";
const KEPT = "semel-theme";
const THEMES: Theme[] = ["auto", "light", "dark"];

function kept(): Theme {
  try {
    return THEMES.find((theme) => theme === localStorage.getItem(KEPT)) ?? "auto";
  } catch {
    return "auto";
  }
}

export const theme = signal<Theme>(kept());

export function applyTheme(): void {
  if (theme.value === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
}

export function nextTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? "auto";
  try {
    localStorage.setItem(KEPT, theme.value);
  } catch {
    // A browser that keeps nothing still shows it for now.
  }
  applyTheme();
}
