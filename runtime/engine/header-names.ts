/** The contract spells `Service-…`, `X-Service-…`, `x-service-…`; a deployer's prefix takes the place of the word, in its own spelling and in lower case. */
export function renameHeader(name: string, prefix: string): string {
  return name.replace(/^(x-)?(service)-/i, (_match, x: string | undefined, word: string) => {
    const spelled = word === word.toLowerCase() ? prefix.toLowerCase() : prefix
    return `${x ?? ''}${spelled}-`
  })
}
