// A line that reports what happened.
import { byId } from "./dom";

export function say(text: string, wrong = false) {
  const line = byId("message");
  line.textContent = text;
  line.classList.toggle("wrong", wrong);
}
