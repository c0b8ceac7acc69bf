import { ArrowDownToLine } from 'lucide-react'
import { memo, useEffect, useRef, useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { Empty } from '../../parts/states.tsx'
import type { Line } from './timeline.ts'
import styles from './transcript.module.css'
import { TurnRow } from './turn-row.tsx'

type TranscriptProps = {
  lines: readonly Line[]
  current: number | null
  selected: number | null
  select: (line: Line) => void
  seek: (seconds: number) => void
  isFollowing: boolean
}

/** Shows the words. The view follows the sound until the reader scrolls away. */
export const Transcript = memo(function Transcript({
  lines,
  current,
  selected,
  select,
  seek,
  isFollowing,
}: TranscriptProps) {
  const list = useRef<HTMLOListElement>(null)
  const [isAway, setAway] = useState(false)
  useEffect(() => {
    if (!isFollowing) return
    const leave = () => setAway(true)
    addEventListener('wheel', leave, { passive: true })
    addEventListener('touchmove', leave, { passive: true })
    return () => {
      removeEventListener('wheel', leave)
      removeEventListener('touchmove', leave)
    }
  }, [isFollowing])
  const wanted = isFollowing ? current : selected
  useEffect(() => {
    if (wanted !== null && !(isFollowing && isAway)) reveal(list.current, wanted)
  }, [wanted, isFollowing, isAway])
  if (lines.length === 0) return <Empty title="Nothing was said in this call" />
  return (
    <section aria-label="Transcript" className={styles.transcript}>
      <h2 className="unseen">Transcript</h2>
      <ol ref={list}>
        {lines.map((line) => (
          <TurnRow
            key={line.turn.id}
            line={line}
            isCurrent={line.turn.index === current}
            isSelected={line.turn.index === selected}
            select={select}
            seek={seek}
          />
        ))}
      </ol>
      {isFollowing && isAway && (
        <Button look="main" isSmall className={styles.back} onClick={() => setAway(false)}>
          <ArrowDownToLine aria-hidden="true" />
          Back to now
        </Button>
      )}
    </section>
  )
})

function reveal(list: HTMLElement | null, index: number): void {
  list?.querySelector(`[data-turn="${index}"]`)?.scrollIntoView({ block: 'nearest' })
}
