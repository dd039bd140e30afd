// Files that are dropped on a control.

/** Calls `take` with files that are dropped on an element. */
export function followDrops(element, take) {
  const over = (event, is) => {
    event.preventDefault();
    element.classList.toggle("over", is);
  };
  element.addEventListener("dragover", (event) => over(event, true));
  element.addEventListener("dragleave", (event) => over(event, false));
  element.addEventListener("drop", (event) => {
    over(event, false);
    take([...event.dataTransfer.files]);
  });
}
