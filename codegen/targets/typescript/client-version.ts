/** The generator replaces this version by the version in package.json. */
export const version = '0.0.0'
