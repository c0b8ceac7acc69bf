/** Replaced by the version in package.json when the package is generated. */
export const version = '0.0.0'
