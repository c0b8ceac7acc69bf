export function filesOfLane(name: string): string[]
