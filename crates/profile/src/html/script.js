"use strict";
document.querySelectorAll("table.sort").forEach(table => {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") !== "descending";
      heads.forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const body = table.tBodies[0];
      const key = row => row.cells[column].dataset.n ?? row.cells[column].textContent;
      const rows = [...body.rows].sort((a, b) => {
        const [x, y] = [key(a), key(b)];
        const order = isNaN(x) || isNaN(y) ? x.localeCompare(y) : x - y;
        return down ? -order : order;
      });
      body.append(...rows);
    });
  });
});
document.querySelectorAll("button[data-line]").forEach(button => {
  button.addEventListener("click", () => {
    const pressed = button.getAttribute("aria-pressed") !== "true";
    document.querySelectorAll("tr.marked").forEach(row => row.classList.remove("marked"));
    document.querySelectorAll("button[data-line]").forEach(other => other.setAttribute("aria-pressed", "false"));
    if (!pressed) return;
    button.setAttribute("aria-pressed", "true");
    const rows = document.querySelectorAll(`tr[data-line="${CSS.escape(button.dataset.line)}"]`);
    rows.forEach(row => row.classList.add("marked"));
    if (rows.length) rows[0].scrollIntoView({ block: "center" });
  });
});
const theme = document.querySelector("button.theme");
theme.hidden = false;
theme.addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
});
