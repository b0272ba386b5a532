// The views on the right: one is shown, and only that one is kept up to date.
import { byId, el } from "./dom";
import { store, type Selection } from "./store";

export interface View {
  id: string;
  title: string;
  root: HTMLElement;
  refresh(): void | Promise<void>;
  follow?(selection: Selection, origin: string): void;
  /** Another file is shown. */
  reset?(): void;
}

const views: View[] = [];
let current: View | undefined;
let stale = new Set<View>();

export function addViews(list: View[]) {
  const tabs = byId("tabs");
  const room = byId("views");
  for (const view of list) {
    views.push(view);
    const tab = el("button", { role: "tab", id: `tab-${view.id}`, "aria-controls": `view-${view.id}`, "aria-selected": "false", tabindex: -1 }, view.title);
    tab.addEventListener("click", () => void showView(view.id));
    tabs.append(tab);
    view.root.id = `view-${view.id}`;
    view.root.setAttribute("role", "tabpanel");
    // Those that scroll are scrolled by keys.
    view.root.tabIndex = 0;
    view.root.setAttribute("aria-labelledby", tab.id);
    view.root.classList.add("view");
    view.root.hidden = true;
    room.append(view.root);
  }
  tabs.addEventListener("keydown", (event) => {
    const at = views.findIndex((v) => v === current);
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!step) return;
    event.preventDefault();
    const next = views[(at + step + views.length) % views.length] as View;
    void showView(next.id).then(() => byId(`tab-${next.id}`).focus());
  });
}

export async function showView(id: string) {
  const view = views.find((v) => v.id === id);
  if (!view) return;
  current = view;
  document.body.dataset["view"] = id;
  for (const v of views) {
    v.root.hidden = v !== view;
    const tab = byId(`tab-${v.id}`);
    tab.setAttribute("aria-selected", String(v === view));
    tab.tabIndex = v === view ? 0 : -1;
  }
  if (stale.delete(view)) await view.refresh();
  if (store.selection) view.follow?.(store.selection, "");
}

export const currentView = () => current?.id ?? "flow";
export function resetViews() {
  for (const view of views) view.reset?.();
}

store.add({
  async refresh() {
    stale = new Set(views);
    if (current) {
      stale.delete(current);
      await current.refresh();
    }
  },
  follow(selection, origin) {
    current?.follow?.(selection, origin);
  },
});
