/** Joins the names of CSS classes. Names that are false or missing are left out. */
export function classes(...names: readonly (string | false | undefined)[]): string {
  return names.filter((name) => typeof name === 'string').join(' ')
}
