/* In view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The page's address, which has what the page shows. */

/* What the address says behind its "#": the place first, then key=value for what is not as usual. */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

const address = {
  place: "",
  parts: new Map(),
  takers: [] /* of what the address says; called again when it is another one */,

  read() {
    const [place, ...parts] = location.hash.slice(1).split("&");

    this.place = place;
    this.parts = new Map(parts.map(part => part.split("=")).map(([key, value]) => [key, decoded(value || "")]));
  },
  get(key) {
    return this.parts.has(key) ? this.parts.get(key) : null;
  },
  set(key, value) {
    if (value === null) this.parts.delete(key);
    else this.parts.set(key, value);
    this.write();
  },
  keep(take) {
    this.takers.push(take);
    take();
  },
  text() {
    return (
      "#" + [this.place, ...[...this.parts].map(([key, value]) => key + "=" + encodeURIComponent(value))].join("&")
    );
  },
  /* Browsers bear few changes of the address in a second. */
  write() {
    this.later =
      this.later ||
      setTimeout(() => {
        this.later = 0;
        history.replaceState(null, "", this.text());
      }, 100);
  },
};
