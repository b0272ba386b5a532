// Small helpers for elements.

export function el<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Record<string, string | number | boolean | undefined> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    element.setAttribute(key, value === true ? "" : String(value));
  }
  element.append(...children);
  return element;
}

export function svg(name: string, attributes: Record<string, string | number> = {}, ...children: (Node | string)[]): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.append(...children);
  return element;
}

export function byId<T extends HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`no element ${id}`);
  return element as T;
}

export const hex = (value: number, digits = 2) => value.toString(16).padStart(digits, "0");

/** Rows of equal height, of which only those in sight are elements. */
export class Rows {
  readonly box: HTMLDivElement;
  private readonly room: HTMLDivElement;
  private count = 0;
  private first = -1;
  private last = -1;
  /** The row to be brought into sight when there is something to see. */
  private wanted?: number;

  constructor(
    role: string,
    label: string,
    readonly height: number,
    private readonly render: (index: number) => HTMLElement,
    private readonly seen?: (first: number, last: number) => void,
  ) {
    this.room = el("div", { class: "room", role: role === "grid" ? "rowgroup" : "none" });
    this.box = el("div", { class: "rows", role, "aria-label": label, tabindex: 0 }, this.room);
    this.box.addEventListener("scroll", () => this.draw());
    new ResizeObserver(() => {
      if (this.wanted !== undefined && this.box.clientHeight) this.show(this.wanted);
      else this.draw();
    }).observe(this.box);
  }

  resize(count: number) {
    this.count = count;
    this.room.style.height = `${count * this.height}px`;
    if (this.box.getAttribute("role") === "grid") this.box.setAttribute("aria-rowcount", String(count));
    this.draw(true);
  }

  draw(anew = false) {
    const first = Math.max(0, Math.floor(this.box.scrollTop / this.height) - 4);
    const last = Math.min(this.count, first + Math.ceil(this.box.clientHeight / this.height) + 9);
    if (!anew && first === this.first && last === this.last) return;
    this.first = first;
    this.last = last;
    const rows: HTMLElement[] = [];
    for (let index = first; index < last; index++) {
      const row = this.render(index);
      row.style.top = `${index * this.height}px`;
      rows.push(row);
    }
    this.room.replaceChildren(...rows);
    this.seen?.(first, last);
  }

  /** Brings a row into sight, in the middle if it was out of it. */
  show(index: number) {
    const top = index * this.height;
    const { scrollTop, clientHeight } = this.box;
    // Hidden elements cannot be scrolled.
    this.wanted = clientHeight ? undefined : index;
    if (top < scrollTop || top + this.height > scrollTop + clientHeight) {
      this.box.scrollTop = Math.max(0, top - clientHeight / 2);
    }
    this.draw(true);
  }
}
