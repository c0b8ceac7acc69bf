/** A stored header whose value is secret, so only its name is shown. */
export function configuredHeader(name: string): { name: string; configured: true } {
  return { name, configured: true }
}
