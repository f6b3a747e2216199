/** How numbers are written: short, as the audit's page writes them. */

const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** With separators, or to three digits. @param {number | null | undefined} value */
export function number(value) {
  if (value === null || value === undefined) return "–";
  if (Number.isInteger(value) || Math.abs(value) >= 1000) return WHOLE.format(value);
  return String(Number(value.toPrecision(3)));
}

/** As a percentage, with as many digits as it takes to tell it from 0 and 100. @param {number | null | undefined} share */
export function percent(share) {
  if (share === null || share === undefined) return "–";
  const distance = Math.min(Math.abs(share), Math.abs(1 - share));
  if (distance > 0 && distance < 1e-5) return share < 0.5 ? "under 0.001 %" : "over 99.999 %";
  const digits = distance === 0 ? 0 : distance >= 0.001 ? 1 : 3;
  return `${(100 * share).toFixed(digits)} %`;
}

/** One or many: `counted(2, "row")` is "2 rows". @param {number} count @param {string} one @param {string} [many] */
export function counted(count, one, many = `${one}s`) {
  return `${number(count)} ${count === 1 ? one : many}`;
}

/** @param {number} bytes */
export function size(bytes) {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  const place = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  return `${number(Number((bytes / 1000 ** place).toPrecision(3)))} ${units[place]}`;
}
