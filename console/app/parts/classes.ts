/** Joins the names of CSS classes. False and missing names are left out. */
export function classes(...names: readonly (string | false | undefined)[]): string {
  return names.filter((name) => typeof name === 'string').join(' ')
}
