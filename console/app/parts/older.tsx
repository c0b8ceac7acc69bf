import { Button } from './button.tsx'
import { Line } from './layout.tsx'

type OlderProps = {
  of: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => Promise<unknown> }
  what: string
}

/** Reads the next page of a list whose newest entries are shown first. */
export function Older({ of: { hasNextPage, isFetchingNextPage, fetchNextPage }, what }: OlderProps) {
  if (!hasNextPage) return null
  return (
    <Line>
      <Button disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
        Show older {what}
      </Button>
    </Line>
  )
}
