/** Run something once, when a while has passed without another call. */
export function later(milliseconds: number, work: () => void): { call(): void; dispose(): void } {
  let timer: NodeJS.Timeout | undefined;
  return {
    call(): void {
      clearTimeout(timer);
      timer = setTimeout(work, milliseconds);
    },
    dispose(): void {
      clearTimeout(timer);
    },
  };
}
