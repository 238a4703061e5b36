/** From 0, nothing, to 4: quarters of what is not nothing, so that one wild day does not pale all others. */
export function warmths(amounts: readonly number[]): number[] {
  const known = amounts.filter((amount) => amount > 0);
  return amounts.map((amount) => {
    const below = known.filter((other) => other < amount).length;
    return amount > 0 ? 1 + Math.floor((below / known.length) * WARMEST) : 0;
  });
}

const WARMEST = 4;
