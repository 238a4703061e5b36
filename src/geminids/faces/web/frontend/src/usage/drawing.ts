/** The library that draws, with no more of it than we use. Loaded only where a picture is shown. */
import { BarChart, LineChart } from "echarts/charts";
import { AriaComponent, GridComponent, MarkLineComponent, TooltipComponent } from "echarts/components";
import { init, use, type EChartsType } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";

use([AriaComponent, BarChart, GridComponent, LineChart, MarkLineComponent, SVGRenderer, TooltipComponent]);

export function begin(host: HTMLElement): EChartsType {
  return init(host, null, { renderer: "svg" });
}
