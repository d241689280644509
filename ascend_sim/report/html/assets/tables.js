"use strict";
const number = (text) => {
  const value = parseFloat(text.replace(/,/g, ""));
  return Number.isNaN(value) ? null : value;
};
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.querySelectorAll("th")];
  heads.forEach((head, column) => {
    head.tabIndex = 0;
    const sort = () => {
      const down = head.getAttribute("aria-sort") !== "descending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const body = table.tBodies[0];
      const rows = [...body.rows].sort((a, b) => {
        const left = a.cells[column].textContent, right = b.cells[column].textContent;
        const x = number(left), y = number(right);
        const order = x !== null && y !== null ? x - y : left.localeCompare(right);
        return down ? -order : order;
      });
      body.append(...rows);
    };
    head.addEventListener("click", sort);
    head.addEventListener("keydown", (event) => { if (event.key === "Enter") sort(); });
  });
}
