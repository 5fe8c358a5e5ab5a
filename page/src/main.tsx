// Begins the page: who is looking, then what they asked for, then what happens from now on.

import "./style/index.css";
import { render } from "preact";
import { Problem, know } from "./api";
import { follow } from "./live";
import { Shell } from "./shell";
import { applyTheme } from "./theme";

applyTheme();

async function begin(): Promise<void> {
  const place = document.getElementById("page");
  if (!place) return;
  try {
    await know();
  } catch (error) {
    if (error instanceof Problem && error.status === 401) return location.assign("/login");
    place.textContent = `The server cannot be reached: ${String(error)}. Reload the page to try again.`;
    return;
  }
  follow();
  render(<Shell />, place);
}

void begin();
