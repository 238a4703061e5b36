/** What pictures have in common. */
import type { BarSeriesOption, GridComponentOption, LineSeriesOption, TooltipComponentOption, XAXisComponentOption, YAXisComponentOption } from "echarts";

import type { Ink } from "./inks";

export interface Picture {
  grid: GridComponentOption;
  tooltip: TooltipComponentOption;
  xAxis: XAXisComponentOption;
  yAxis: YAXisComponentOption;
  series: (BarSeriesOption | LineSeriesOption)[];
}

export const SANS = '"Inter Variable", system-ui, sans-serif';

export const GRID: GridComponentOption = { left: 4, right: 8, top: 12, bottom: 6, outerBoundsMode: "same", outerBoundsContain: "axisLabel" };

export function labels(ink: Ink) {
  return { color: ink("--ink-faint"), fontFamily: SANS, fontSize: 11, hideOverlap: true };
}

export function categories(ink: Ink, names: string[], said: (name: string) => string): XAXisComponentOption {
  return {
    type: "category",
    data: names,
    axisLine: { lineStyle: { color: ink("--line-strong") } },
    axisTick: { show: false },
    axisLabel: { ...labels(ink), formatter: said },
  };
}

export function amounts(ink: Ink, said: (value: number) => string, most?: number): YAXisComponentOption {
  return {
    type: "value",
    max: most,
    splitNumber: 4,
    splitLine: { lineStyle: { color: ink("--line") } },
    axisLabel: { ...labels(ink), formatter: said },
  };
}

/** Words beside the pointer. They are drawn as text: the policy of the page lets nobody write markup with styles. */
export function tooltip(ink: Ink, said: (place: number) => string): TooltipComponentOption {
  return {
    trigger: "axis",
    renderMode: "richText",
    confine: true,
    transitionDuration: 0,
    backgroundColor: ink("--raised"),
    borderColor: ink("--line-strong"),
    borderWidth: 1,
    padding: [8, 10],
    textStyle: { color: ink("--ink"), fontFamily: SANS, fontSize: 12, lineHeight: 18 },
    axisPointer: { type: "shadow", shadowStyle: { color: ink("--ink"), opacity: 0.06 } },
    formatter: (pointed) => {
      const first = Array.isArray(pointed) ? pointed[0] : pointed;
      return first ? said(first.dataIndex) : "";
    },
  };
}
